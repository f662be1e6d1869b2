#include <algorithm>

#include "attention/select/explain.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

std::string capitalized(std::string text) {
  // Names keep their case; only a plain word is lifted.
  if (text.size() > 1 && text[0] >= 'a' && text[0] <= 'z' && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

// One row when every device fares the same.
std::vector<ForeignRow> rows_for_text(const std::vector<ForeignRow>& rows) {
  const bool is_same = std::all_of(rows.begin(), rows.end(), [&rows](const ForeignRow& row) {
    return row.outcome == rows.front().outcome && row.text == rows.front().text;
  });
  if (rows.size() < 2 || !is_same) {
    return rows;
  }
  return {{"every device", rows.front().outcome, rows.front().text}};
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) {
    array.emplace_back(text);
  }
  return array;
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string text = explanation.name;
  if (explanation.canonical != explanation.name && explanation.name != "unset") {
    text += " = " + explanation.canonical;
  }
  if (explanation.engine != "all") {
    text += " (" + explanation.engine + ")";
  }
  text += "\n" + capitalized(explanation.what) + ".\n";
  if (!explanation.release.empty()) {
    text +=
        "\nIn " + explanation.release + ", with gpt-oss\n" + capitalized(explanation.there) + "\n";
    std::size_t device_width = 0;
    std::size_t outcome_width = 0;
    const std::vector<ForeignRow> rows = rows_for_text(explanation.rows);
    for (const ForeignRow& row : rows) {
      device_width = std::max(device_width, row.device.size());
      outcome_width = std::max(outcome_width, name_of(row.outcome).size());
    }
    for (const ForeignRow& row : rows) {
      const std::string outcome(name_of(row.outcome));
      text += "  " + row.device + std::string(device_width - row.device.size() + 2, ' ') + outcome +
              std::string(outcome_width - outcome.size() + 2, ' ') + row.text + "\n";
    }
    if (!explanation.right_answer.empty()) {
      text += "Right answer: " + explanation.right_answer + "\n";
    }
  }
  text += "\nHere\n";
  std::size_t width = 0;
  for (const HereRow& row : explanation.here) {
    width = std::max(width, row.device.size());
  }
  for (const HereRow& row : explanation.here) {
    text += "  " + row.device + std::string(width - row.device.size() + 2, ' ') + row.text + "\n";
  }
  if (!explanation.history.empty()) {
    text += "\nHistory\n";
    for (const std::string& line : explanation.history) {
      text += "  " + line + "\n";
    }
  }
  if (!explanation.sources.empty()) {
    text += "\nSources: " + join(explanation.sources, ", ") + "\n";
  }
  return text;
}

json::object explanation_json(const Explanation& explanation) {
  json::array rows;
  for (const ForeignRow& row : explanation.rows) {
    rows.push_back(json::object{
        {"device", row.device}, {"outcome", name_of(row.outcome)}, {"text", row.text}});
  }
  json::array here;
  for (const HereRow& row : explanation.here) {
    here.push_back(json::object{{"device", row.device}, {"text", row.text}});
  }
  json::object object = {
      {"name", explanation.name},
      {"canonical", explanation.canonical},
      {"engine", explanation.engine},
      {"what", explanation.what},
      {"here", std::move(here)},
      {"history", texts_json(explanation.history)},
      {"sources", texts_json(explanation.sources)},
  };
  if (!explanation.release.empty()) {
    object["release"] = explanation.release;
    object["there"] = explanation.there;
    object["right_answer"] = explanation.right_answer;
    object["rows"] = std::move(rows);
  }
  return object;
}

}  // namespace rapt
