// CMake compiles a header in advance for a target, and a target has a source.
