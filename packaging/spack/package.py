# A recipe for Spack: libshoal with header, CMake package and pkg-config file, and the preload, for one MPI.
#
# Spack itself has never run this recipe. tests/install/test_spack.py runs it with stand-ins for Spack's modules, and
# gives its arguments to CMake.
#
# To build this checkout with it, put it into a repository of your own:
#   spack repo create ~/shoal-spack shoal && mkdir -p ~/shoal-spack/packages/shoal
#   cp packaging/spack/package.py ~/shoal-spack/packages/shoal && spack repo add ~/shoal-spack
#   spack dev-build -d . shoal@0.1.0
# Then preload it: LD_PRELOAD=$(ls $(spack location -i shoal)/lib/shoal/*/libshoal-preload.so) mpiexec -n 8 ./program
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Shoal(CMakePackage):
    """Configurable, verified all-to-all exchanges for MPI, also under programs that cannot be changed."""

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi")
    depends_on("tomlplusplus", type="build")

    conflicts("%gcc@:10", msg="needs C++20")

    def cmake_args(self):
        return [self.define("SHOAL_MPI", True), self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc)]
