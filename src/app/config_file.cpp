#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "app/flag_sources_internal.h"
#include "app/input_file.h"

namespace rapt {

namespace {

bool repeats(FlagKind kind) {
  return kind == FlagKind::kTexts || kind == FlagKind::kWholeTexts || kind == FlagKind::kTokenIds;
}

// Adds the plain values below `node` as KEY=VALUE, keys of mappings within joined by dots.
Result<void> add_pairs(
    const YAML::Node& node,
    const std::string& key,
    const std::string& where,
    std::vector<std::string>& texts
) {
  if (node.IsScalar() && !key.empty()) {
    texts.push_back(key + "=" + node.Scalar());
    return {};
  }
  if (!node.IsMap()) {
    return invalid_argument(where + ": only keys with plain values and mappings work here");
  }
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      return invalid_argument(where + ": a key must be plain text");
    }
    const std::string inner = entry.first.Scalar();
    RETURN_IF_ERROR(add_pairs(entry.second, key.empty() ? inner : key + "." + inner, where, texts));
  }
  return {};
}

const FlagSpec* find_flag(const CommandSpec& command, std::string_view name) {
  for (const FlagSpec* flag : flags_of(command.bit)) {
    if (flag->name == name) {
      return flag;
    }
  }
  return nullptr;
}

// The texts of one entry: its scalar, or the scalars of its list.
Result<std::vector<std::string>> read_texts(
    const FlagSpec& flag, const YAML::Node& node, const std::string& where
) {
  if (node.IsScalar()) {
    return std::vector<std::string>{node.Scalar()};
  }
  if (node.IsMap() && flag.kind == FlagKind::kMapping) {
    std::vector<std::string> texts;
    RETURN_IF_ERROR(add_pairs(node, "", where, texts));
    if (!texts.empty()) {
      return texts;
    }
  }
  if (node.IsSequence() && repeats(flag.kind)) {
    std::vector<std::string> texts;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        return invalid_argument(where + ": a list here may hold plain values only");
      }
      texts.push_back(item.Scalar());
    }
    if (texts.empty()) {
      return invalid_argument(where + ": the list is empty; leave the key out instead");
    }
    return texts;
  }
  if (node.IsNull()) {
    return invalid_argument(where + ": there is no value; leave the key out instead");
  }
  return invalid_argument(
      where +
      (repeats(flag.kind) ? ": expected a value or a list of values" : ": expected one plain value")
  );
}

Result<RawValues> read_entries(
    const CommandSpec& command, const YAML::Node& root, const std::string& path
) {
  RawValues values;
  if (root.IsNull()) {
    return values;
  }
  if (!root.IsMap()) {
    return invalid_argument(
        path + ": expected a YAML mapping from flag names to values, such as 'port: 8000'"
    );
  }
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) {
      return invalid_argument(path + ": a key must be a flag's name");
    }
    const std::string key = entry.first.Scalar();
    const std::string where = path + ": " + key;
    // A part of a mapping: "attention-config.backend: X".
    const std::size_t dot = std::min(key.find('.'), key.size());
    std::string name = key.substr(0, dot);
    std::replace(name.begin(), name.end(), '_', '-');
    const FlagSpec* flag = find_flag(command, name);
    const bool is_part = dot < key.size();
    if (flag == nullptr || (is_part && flag->kind != FlagKind::kMapping)) {
      return unknown_config_key(command, key, path);
    }
    if (is_part) {
      RawValue& parts = values.try_emplace(name, RawValue{{}, path + ": " + name}).first->second;
      RETURN_IF_ERROR(add_pairs(entry.second, key.substr(dot + 1), where, parts.texts));
      continue;
    }
    if (values.contains(name)) {
      return invalid_argument(where + ": the flag stands twice in this file");
    }
    ASSIGN_OR_RETURN(std::vector<std::string> texts, read_texts(*flag, entry.second, where));
    values[name] = {std::move(texts), where};
  }
  return values;
}

}  // namespace

Result<RawValues> read_config_file(const CommandSpec& command, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_input_file(path, "--config"));
  try {
    return read_entries(command, YAML::Load(text), path);
  } catch (const YAML::Exception& error) {
    return bad_file(path + " is not YAML that Rapt can read: " + error.what());
  }
}

}  // namespace rapt
