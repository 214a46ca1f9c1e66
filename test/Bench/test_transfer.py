"""A policy is made over for other variables: what has one name is kept."""

import unittest

from search.transfer import Places, read_variables, transplanted

HIDDEN = 2


def policy(variables, first):
    """Parameters that count up from `first`, so that each tells where it is from."""
    places = Places(read_variables(variables))
    sizes = {
        "state.bias": HIDDEN,
        "state.values": HIDDEN * len(places.values),
        "state.edited": HIDDEN * len(places.variables),
        "elite.copy": len(places.variables),
        "out.weight": HIDDEN * len(places.actions),
        "out.bias": len(places.actions),
    }
    parameters = {}
    for block, size in sizes.items():
        parameters[block] = list(range(first, first + size))
        first += 100
    return {"variables": variables, "parameters": parameters}


class Transplanted(unittest.TestCase):
    def setUp(self):
        self.learned = policy("tp 1,2; moe.ffn_up 0,1", 1000)
        self.new = policy("tp 2,4; ffn_up 1,2; embed 0", 5000)
        self.made = transplanted(self.learned, self.new)["parameters"]

    def test_the_variables_stay(self):
        made = transplanted(self.learned, self.new)
        self.assertEqual(made["variables"], self.new["variables"])
        sizes = {block: len(numbers) for block, numbers in self.new["parameters"].items()}
        self.assertEqual({b: len(numbers) for b, numbers in self.made.items()}, sizes)

    def test_a_policy_for_its_own_variables_stays_as_it_is(self):
        self.assertEqual(transplanted(self.learned, self.learned), self.learned)

    def test_values_of_one_name_are_kept(self):
        # tp 2 is the second row there; ffn_up 1 the fourth, in another part of the model.
        kept, new = [1102, 1103], [5102, 5103]
        self.assertEqual(self.made["state.values"], kept + new + [1106, 1107, 5106, 5107, 5108, 5109])

    def test_variables_of_one_name_are_kept(self):
        self.assertEqual(self.made["elite.copy"], [1300, 1301, 5302])

    def test_columns_of_actions_are_kept_row_by_row(self):
        # There: tp 1, tp 2, ffn_up 0, ffn_up 1, end, steps -1 0 1 of tp.
        # Here: tp 2, tp 4, ffn_up 1, ffn_up 2, embed 0, end, steps -1 0 1 of tp.
        first = [1401, 5401, 1403, 5403, 5404, 1404, 1405, 1406, 1407]
        second = [1409, 5410, 1411, 5412, 5413, 1412, 1413, 1414, 1415]
        self.assertEqual(self.made["out.weight"], first + second)
        self.assertEqual(self.made["out.bias"], [number + 100 for number in first])


if __name__ == "__main__":
    unittest.main()
