// On which part of its machine's processors a rank runs, as Linux tells in /sys.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

// What the ranks of one node of a layout share: the machine, or one of its sockets, NUMA domains or level 3 caches.
enum class node_level { machine, socket, numa, cache };

// Reads "socket", "numa" or "cache"; returns nothing for other texts.
std::optional<node_level> parse_node_level(std::string_view text);

// The domain in which all of these CPUs lie, as Linux lists its CPUs ("0-15,32-47"). Equal lists mean the same domain.
// Empty if the CPUs lie in several domains, if nothing is known of them, or if the level is the machine. `system` is
// the folder in which Linux describes the devices.
std::string domain_of(std::span<const int> cpus, node_level level,
                      const std::filesystem::path& system = "/sys/devices/system");

}  // namespace shoal
