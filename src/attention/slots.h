#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The four places of an attention plan: which kernel runs prompts and which runs single tokens, in
// layers that see everything and in layers that see a window. Plain values, any thread.

namespace rapt {

enum class AttentionPhase { kPrefill, kDecode };
enum class AttentionLayerKind { kFull, kSliding };

enum class AttentionSlot { kPrefillFull, kPrefillSliding, kDecodeFull, kDecodeSliding };

inline constexpr int kNumAttentionSlots = 4;
inline constexpr std::array<AttentionSlot, kNumAttentionSlots> kAttentionSlots = {
    AttentionSlot::kPrefillFull,
    AttentionSlot::kPrefillSliding,
    AttentionSlot::kDecodeFull,
    AttentionSlot::kDecodeSliding,
};

constexpr int index_of(AttentionSlot slot) {
  return static_cast<int>(slot);
}

constexpr AttentionPhase phase_of(AttentionSlot slot) {
  return index_of(slot) < 2 ? AttentionPhase::kPrefill : AttentionPhase::kDecode;
}

constexpr AttentionLayerKind layer_kind_of(AttentionSlot slot) {
  return index_of(slot) % 2 == 0 ? AttentionLayerKind::kFull : AttentionLayerKind::kSliding;
}

constexpr AttentionSlot make_slot(AttentionPhase phase, AttentionLayerKind kind) {
  return static_cast<AttentionSlot>(2 * static_cast<int>(phase) + static_cast<int>(kind));
}

// As overrides and plans write it.
constexpr std::string_view name_of(AttentionSlot slot) {
  constexpr std::array<std::string_view, kNumAttentionSlots> kNames = {
      "prefill.full", "prefill.sliding", "decode.full", "decode.sliding"};
  return kNames[static_cast<std::size_t>(index_of(slot))];
}

// As labels of metrics and keys of JSON write it.
constexpr std::string_view key_of(AttentionSlot slot) {
  constexpr std::array<std::string_view, kNumAttentionSlots> kKeys = {
      "prefill_full", "prefill_sliding", "decode_full", "decode_sliding"};
  return kKeys[static_cast<std::size_t>(index_of(slot))];
}

constexpr std::string_view name_of(AttentionPhase phase) {
  return phase == AttentionPhase::kPrefill ? "prefill" : "decode";
}

constexpr std::string_view name_of(AttentionLayerKind kind) {
  return kind == AttentionLayerKind::kFull ? "full" : "sliding";
}

// A set of slots.
class SlotSet {
 public:
  constexpr SlotSet() = default;

  constexpr SlotSet(AttentionSlot slot) : bits_(static_cast<std::uint8_t>(1U << index_of(slot))) {}

  static constexpr SlotSet all() { return SlotSet(std::uint8_t{0xF}); }

  static constexpr SlotSet none() { return SlotSet(); }

  static constexpr SlotSet of(AttentionPhase phase) {
    return SlotSet(make_slot(phase, AttentionLayerKind::kFull)) |
           SlotSet(make_slot(phase, AttentionLayerKind::kSliding));
  }

  static constexpr SlotSet of(AttentionLayerKind kind) {
    return SlotSet(make_slot(AttentionPhase::kPrefill, kind)) |
           SlotSet(make_slot(AttentionPhase::kDecode, kind));
  }

  constexpr bool contains(AttentionSlot slot) const { return (bits_ >> index_of(slot) & 1U) != 0; }

  constexpr SlotSet without(AttentionSlot slot) const {
    return SlotSet(static_cast<std::uint8_t>(bits_ & ~(1U << index_of(slot))));
  }

  constexpr bool is_empty() const { return bits_ == 0; }

  constexpr int size() const {
    int num_slots = 0;
    for (const AttentionSlot slot : kAttentionSlots) {
      num_slots += contains(slot) ? 1 : 0;
    }
    return num_slots;
  }

  friend constexpr SlotSet operator|(SlotSet a, SlotSet b) {
    return SlotSet(static_cast<std::uint8_t>(a.bits_ | b.bits_));
  }

  friend constexpr SlotSet operator&(SlotSet a, SlotSet b) {
    return SlotSet(static_cast<std::uint8_t>(a.bits_ & b.bits_));
  }

  friend constexpr bool operator==(SlotSet a, SlotSet b) = default;

 private:
  explicit constexpr SlotSet(std::uint8_t bits) : bits_(bits) {}

  std::uint8_t bits_ = 0;
};

constexpr SlotSet operator|(AttentionSlot a, AttentionSlot b) {
  return SlotSet(a) | SlotSet(b);
}

}  // namespace rapt
