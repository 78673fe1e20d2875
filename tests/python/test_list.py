import shoal


def test_table_names_everything(shoal_command):
    text = " ".join(shoal_command.output("list").split())
    for algorithm in shoal.algorithms():
        assert f" {algorithm.name} " in text
        assert all(f"{parameter.name}=" in text for parameter in algorithm.parameters)
    assert "2 to 1048576" in text


def test_json_is_the_table(shoal_command):
    entries = shoal_command.json("list")
    assert [entry["name"] for entry in entries] == [algorithm.name for algorithm in shoal.algorithms()]
    hierarchical = next(entry for entry in entries if entry["name"] == "hierarchical")
    by_level = {entry["name"] for entry in hierarchical["parameters"] if entry.get("by_level")}
    assert by_level == {"local", "radix", "block_count", "carriers"}
    scattered = next(entry for entry in entries if entry["name"] == "scattered")
    assert scattered["collective"] == "alltoall" and not scattered["uniform_only"] and scattered["has_schedule"]
    assert scattered["parameters"] == [
        {
            "name": "block_count",
            "summary": "messages sent and received per batch",
            "default": "32",
            "words": ["all"],
            "list": False,
            "lowest": 1,
            "highest": 1048576,
        }
    ]
