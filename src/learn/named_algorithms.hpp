// The algorithms that users ask for, for a communicator or for one call, instead of letting Shoal choose.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "select/settings.hpp"
#include "team/boundary.hpp"
#include "team/team.hpp"

namespace shoal {

// A Decision has `algorithm`, a pointer to a selection that was made ready, and `reason`.
template <typename Decision>
class named_algorithms {
 public:
  using plan = std::remove_pointer_t<decltype(Decision::algorithm)>;
  // Makes a selection ready; throws std::invalid_argument if the selection cannot serve these ranks.
  using maker = std::function<plan&(const selection&)>;

  // Begins with what the settings say about this collective.
  named_algorithms(collective what, const settings& set, team& ranks, maker make)
      : what_(what), ranks_(ranks), make_(std::move(make)) {
    for (const call_form form : settings::forms_of(what)) kinds_[form].ask(set.named(what, form));
  }

  // What one call asks for; null if Shoal is to choose. `info` may name the algorithm for this call; if there is an
  // `info`, this function is collective. Throws std::invalid_argument on every rank if the name is wrong or differs
  // between ranks.
  const Decision* of_call(call_form form, MPI_Info info) {
    if (info == MPI_INFO_NULL) return standing(form);
    warn_of(info);
    const std::string key = "shoal_" + settings::name_of(what_, form);
    const info_value value(info, key.c_str());
    if (!ranks_.agree().same_everywhere(hash_of(value.text())))
      throw std::invalid_argument(key + " differs between ranks; give every rank the same info");
    return value.text().empty() ? standing(form) : named(form, value.text());
  }

  // What the communicator's calls of this form ask for; null if Shoal is to choose.
  const Decision* standing(call_form form) {
    kind& k = kinds_[form];
    if (!k.wanted) return nullptr;
    if (!k.ready)
      k.ready = &k.by_spec.try_emplace(to_string(*k.wanted), Decision{&make_(*k.wanted), "asked for"}).first->second;
    return k.ready;
  }

  // Whether the communicator's calls of this form ask for the MPI's own by name.
  bool asks_for_natives(call_form form) const { return names_native(kinds_[form].wanted); }

  // From now on the communicator's calls ask for what `info` names. Collective. Throws as of_call() does, and then
  // nothing has changed.
  void take(MPI_Info info) {
    warn_of(info);
    by_form<std::string> texts;
    std::string all, keys;
    for (const call_form form : settings::forms_of(what_)) {
      const std::string key = "shoal_" + settings::name_of(what_, form);
      all += (texts[form] = info_value(info, key.c_str()).text()) + "|";
      keys += (keys.empty() ? "" : " or ") + key;
    }
    if (!ranks_.agree().same_everywhere(hash_of(all)))
      throw std::invalid_argument(keys + " differ between ranks; give every rank the same info");
    by_form<std::optional<selection>> wanted;
    for (const call_form form : settings::forms_of(what_)) wanted[form] = parsed(form, texts[form]);
    for (const call_form form : settings::forms_of(what_))
      if (!texts[form].empty()) kinds_[form].ask(wanted[form]);
  }

 private:
  struct kind {
    std::optional<selection> wanted;  // empty: Shoal chooses
    const Decision* ready = nullptr;  // what `wanted` was made ready as; null: not yet
    // Decisions for what the communicator asks for, by spec, and for what single calls name. Entries never change, so
    // that a request keeps the decision that it was made with.
    std::map<std::string, Decision, std::less<>> by_spec, by_name;

    void ask(std::optional<selection> other) {
      wanted = std::move(other);
      ready = nullptr;
    }
  };

  void warn_of(MPI_Info info) const {
    if (ranks_.rank() != 0) return;
    if (const std::string unknown = unknown_key(info); !unknown.empty()) say_once(unknown, "it is ignored");
  }

  // The selection that the text names, made ready; empty if the text is "auto" or empty.
  std::optional<selection> parsed(call_form form, const std::string& text) {
    settings one;
    if (!text.empty()) one.set(settings::name_of(what_, form), text);
    const std::optional<selection>& wanted = one.named(what_, form);
    if (wanted) make_(*wanted);
    return wanted;
  }

  const Decision* named(call_form form, std::string_view text) {
    auto& known = kinds_[form].by_name;
    auto it = known.find(text);
    if (it == known.end()) {
      const std::optional<selection> wanted = parsed(form, std::string(text));
      it = known.emplace(text, wanted ? Decision{&make_(*wanted), "asked for by this call"} : Decision{}).first;
    }
    return it->second.algorithm ? &it->second : nullptr;
  }

  collective what_;
  team& ranks_;
  maker make_;
  by_form<kind> kinds_;
};

}  // namespace shoal
