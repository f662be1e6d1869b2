#include <sys/random.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "text/chat/jinja/hash_internal.h"
#include "text/chat/jinja/loop_state_internal.h"

namespace rapt::jinja {

namespace {

using Key = std::array<std::uint64_t, 2>;

// No result depends on it: dicts keep their keys in the order in which they came.
Key draw_key() {
  Key key = {};
  if (getentropy(key.data(), sizeof(key)) != 0) {
    // Where the system has none to give, at least where it has put the process.
    key = {std::bit_cast<std::uintptr_t>(&key), std::bit_cast<std::uintptr_t>(&draw_key)};
  }
  return key;
}

const Key& process_key() {
  static const Key key = draw_key();
  return key;
}

// SipHash with one round a word and three at the end (Aumasson and Bernstein, 2012).
class Hasher {
 public:
  Hasher() {
    const Key& key = process_key();
    state_ = {
        key[0] ^ 0x736F6D6570736575ULL,
        key[1] ^ 0x646F72616E646F6DULL,
        key[0] ^ 0x6C7967656E657261ULL,
        key[1] ^ 0x7465646279746573ULL};
  }

  void add(std::uint64_t word) {
    state_[3] ^= word;
    round();
    state_[0] ^= word;
  }

  void add(std::string_view bytes) {
    add(std::uint64_t{bytes.size()});
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t size = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
      std::memcpy(&word, bytes.data(), size);
      add(word);
      bytes.remove_prefix(size);
    }
  }

  void add(const void* object) { add(std::uint64_t{std::bit_cast<std::uintptr_t>(object)}); }

  std::size_t finish() {
    state_[2] ^= 0xFF;
    for (int i = 0; i < 3; ++i) {
      round();
    }
    return state_[0] ^ state_[1] ^ state_[2] ^ state_[3];
  }

 private:
  void round() {
    auto& [a, b, c, d] = state_;
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }

  std::array<std::uint64_t, 4> state_;
};

enum Mark : std::uint64_t { kNothing, kWhole, kReal, kText, kItems, kObject };

// A whole number and a float that are equal have one hash, and so do all that are not a number.
void add_number(Hasher& hasher, const Value& value) {
  constexpr double kIntLimit = 0x1p127;
  const double real = value.as_double();
  const bool is_whole =
      value.is_int() || (std::trunc(real) == real && real >= -kIntLimit && real < kIntLimit);
  if (is_whole) {
    const Int whole = value.is_int() ? value.as_int() : static_cast<Int>(real);
    hasher.add(kWhole);
    hasher.add(static_cast<std::uint64_t>(whole));
    hasher.add(static_cast<std::uint64_t>(static_cast<unsigned __int128>(whole) >> 64));
    return;
  }
  hasher.add(kReal);
  hasher.add(std::isnan(real) ? 0 : std::bit_cast<std::uint64_t>(real));
}

void add_object(Hasher& hasher, const void* object) {
  hasher.add(kObject);
  hasher.add(object);
}

// False where the value has no hash.
bool add_value(Hasher& hasher, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      hasher.add(kNothing);
      hasher.add(value.is_none() ? 1 : 0);
      return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      add_number(hasher, value);
      return true;
    case Kind::kText:
      hasher.add(kText);
      hasher.add(value.as_bytes());
      return true;
    case Kind::kSequence: {
      const Sequence& sequence = value.as_sequence();
      if (sequence.type != SequenceType::kTuple && sequence.type != SequenceType::kRange) {
        return false;
      }
      hasher.add(kItems);
      hasher.add(std::uint64_t{sequence.items.size()});
      for (const Value& item : sequence.items) {
        if (!add_value(hasher, item)) {
          return false;
        }
      }
      return true;
    }
    case Kind::kNamespace:
      add_object(hasher, &value.as_namespace());
      return true;
    case Kind::kLoop:
      add_object(hasher, &value.as_loop());
      return true;
    case Kind::kIterator:
      add_object(hasher, &value.as_iterator());
      return true;
    case Kind::kDict:
    case Kind::kCallable:
      return false;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> hash_of(const Value& value) {
  Hasher hasher;
  return add_value(hasher, value) ? std::optional<std::size_t>(hasher.finish()) : std::nullopt;
}

std::size_t hash_of_text(std::string_view bytes) {
  Hasher hasher;
  hasher.add(kText);
  hasher.add(bytes);
  return hasher.finish();
}

}  // namespace rapt::jinja
