"""What all tests use."""

pytest_plugins = ["pytester"]
