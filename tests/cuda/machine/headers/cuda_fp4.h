// what CUDA's header of this name declares is in ../types.hpp
