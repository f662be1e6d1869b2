#include "attention/select/calibration.h"

#include <utility>

namespace rapt {

namespace {

Result<double> read_number(
    const json::object& object, std::string_view field, double least, std::string_view what
) {
  const json::value* value = object.if_contains(field);
  if (value == nullptr || !value->is_number() || value->to_number<double>() < least) {
    return bad_file(
        std::string(what) + ": field " + std::string(field) + " must be a number of at least " +
        std::to_string(least) + "; `rapt attention bench` writes the file anew"
    );
  }
  return value->to_number<double>();
}

Result<std::string> read_text(
    const json::object& object, std::string_view field, std::string_view what
) {
  const json::value* value = object.if_contains(field);
  if (value == nullptr || !value->is_string()) {
    return bad_file(
        std::string(what) + ": field " + std::string(field) +
        " must be a string; `rapt attention bench` writes the file anew"
    );
  }
  return std::string(value->as_string());
}

Result<Calibration::Entry> read_entry(const json::value& value, std::string_view what) {
  if (!value.is_object()) {
    return bad_file(std::string(what) + ": entries must be objects");
  }
  const json::object& object = value.as_object();
  Calibration::Entry entry;
  ASSIGN_OR_RETURN(entry.backend, read_text(object, "backend", what));
  ASSIGN_OR_RETURN(entry.variant, read_text(object, "variant", what));
  ASSIGN_OR_RETURN(const std::string slot_key, read_text(object, "slot", what));
  bool is_slot = false;
  for (const AttentionSlot slot : kAttentionSlots) {
    if (key_of(slot) == slot_key) {
      entry.slot = slot;
      is_slot = true;
    }
  }
  if (!is_slot) {
    return bad_file(std::string(what) + ": unknown slot '" + slot_key + "'");
  }
  // Shares divide: nothing that runs reaches less than this.
  constexpr double kLeastShare = 1e-6;
  ASSIGN_OR_RETURN(entry.fixed_us, read_number(object, "fixed_us", 0.0, what));
  ASSIGN_OR_RETURN(
      entry.bandwidth_share, read_number(object, "bandwidth_share", kLeastShare, what)
  );
  ASSIGN_OR_RETURN(entry.compute_share, read_number(object, "compute_share", kLeastShare, what));
  return entry;
}

}  // namespace

const Calibration::Entry* Calibration::find(
    std::string_view backend, std::string_view variant, AttentionSlot slot
) const {
  for (const Entry& entry : entries) {
    if (entry.backend == backend && entry.variant == variant && entry.slot == slot) {
      return &entry;
    }
  }
  return nullptr;
}

Result<Calibration> parse_calibration(std::string_view text, std::string_view what) {
  Result<json::value> parsed = parse_json(text, what);
  if (!parsed) {
    return bad_file(parsed.error().message);
  }
  if (!parsed->is_object()) {
    return bad_file(std::string(what) + ": expected an object");
  }
  const json::object& object = parsed->as_object();
  Calibration calibration;
  ASSIGN_OR_RETURN(calibration.device, read_text(object, "device", what));
  ASSIGN_OR_RETURN(calibration.level, read_text(object, "level", what));
  ASSIGN_OR_RETURN(const double num_workers, read_number(object, "num_workers", 1.0, what));
  calibration.num_workers = num_workers < 1e6 ? static_cast<int>(num_workers) : 0;
  constexpr double kLeastRate = 1e-6;
  ASSIGN_OR_RETURN(
      calibration.bandwidth_gbs, read_number(object, "bandwidth_gbs", kLeastRate, what)
  );
  ASSIGN_OR_RETURN(calibration.peak_tflops, read_number(object, "peak_tflops", kLeastRate, what));
  const json::value* entries = object.if_contains("entries");
  if (entries == nullptr || !entries->is_array()) {
    return bad_file(std::string(what) + ": field entries must be a list");
  }
  for (const json::value& value : entries->as_array()) {
    ASSIGN_OR_RETURN(Calibration::Entry entry, read_entry(value, what));
    calibration.entries.push_back(std::move(entry));
  }
  return calibration;
}

std::string calibration_text(const Calibration& calibration) {
  json::array entries;
  for (const Calibration::Entry& entry : calibration.entries) {
    entries.push_back(json::object{
        {"backend", entry.backend},
        {"variant", entry.variant},
        {"slot", key_of(entry.slot)},
        {"fixed_us", entry.fixed_us},
        {"bandwidth_share", entry.bandwidth_share},
        {"compute_share", entry.compute_share},
    });
  }
  return to_json_text(json::object{
             {"device", calibration.device},
             {"level", calibration.level},
             {"num_workers", calibration.num_workers},
             {"bandwidth_gbs", calibration.bandwidth_gbs},
             {"peak_tflops", calibration.peak_tflops},
             {"entries", std::move(entries)},
         }) +
         "\n";
}

}  // namespace rapt
