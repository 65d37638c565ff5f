"""Prints the names in the table of strategies, a line each: what can be measured."""

from restbench_service.execution.strategies import TECHNIQUES

if __name__ == "__main__":
    print("\n".join(TECHNIQUES))
