# What a test may use: the tools of the build and of LLVM on PATH, and the
# substitutions below. A test of the shared data says `REQUIRES: data`, one of
# measurements among them `silicon`.

import os
import shutil

import lit.formats

config.name = "shardopt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Install", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.join(config.source_root, "test")
config.test_exec_root = os.path.join(config.build_root, "test")

bin_dir = os.path.join(config.build_root, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools, os.environ["PATH"]]
)

config.substitutions += [
    ("%mlir_opt", os.path.join(config.llvm_tools, "mlir-opt")),
    ("%shardopt_root", config.source_root),
    ("%shardopt_build", config.build_root),
    ("%shardopt_models", os.path.join(config.source_root, "examples/models")),
    ("%shardopt_configs", os.path.join(config.source_root, "examples/configs")),
    (
        "%shardopt_plugin",
        os.path.join(config.build_root, "lib/libShardOptPlugin" + config.plugin_suffix),
    ),
    ("%python", config.python),
]

# The networks of the searchers that learn: those of the build, or a module named by
# SHARDOPT_AGENT_TORCH.
agent_torch = os.environ.get("SHARDOPT_AGENT_TORCH")
if agent_torch:
    config.environment["SHARDOPT_AGENT_TORCH"] = agent_torch
if config.have_torch or agent_torch:
    config.available_features.add("torch")
if os.path.exists(os.path.join(bin_dir, "shardopt")):
    config.available_features.add("python-package")

# What counts bytes says UNSUPPORTED: sanitized.
if config.sanitized:
    config.available_features.add("sanitized")

# Features openmpi and mpich, each with its mpirun (%mpirun_openmpi -n 8 …). Ranks
# may be more than cores, and root may start them, as in a container. Without
# sanitizers: OpenMPI leaks at its end, and MPICH's hooks of memory crash under theirs.
config.environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
config.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
for mpi, options in (("openmpi", " --oversubscribe"), ("mpich", "")):
    mpirun = shutil.which(f"mpirun.{mpi}")
    if mpi in config.mpis and mpirun and not config.sanitized:
        config.available_features.add(mpi)
        config.substitutions.append((f"%mpirun_{mpi}", mpirun + options))

# Tests that share out what they run among them run all of it at night.
if os.environ.get("SHARDOPT_NIGHTLY"):
    config.environment["SHARDOPT_NIGHTLY"] = "1"

# What shard-schedule was built with: cadical, cbc.
config.available_features.update(filter(None, config.schedule_solvers))

# Other solvers, to compare with.
for solver in ("toulbar2", "glpsol"):
    if shutil.which(solver):
        config.available_features.add(solver)

# utils/requirements.txt, where ./dev test installed it.
extras = os.path.join(config.build_root, "venv")
if os.path.exists(os.path.join(extras, "installed.txt")):
    config.available_features.add("extras")
    config.substitutions.append(("%extras", os.path.join(extras, "bin/python")))

# Transformers, where ./dev test --transformers installed it.
transformers = os.path.join(config.build_root, "transformers-venv")
if os.path.exists(os.path.join(transformers, "installed.txt")):
    config.available_features.add("transformers")
    config.substitutions.append(("%transformers", os.path.join(transformers, "bin/python")))

data = os.environ.get(
    "SHARDOPT_DATA", os.path.join(config.source_root, "../shared/data")
)
if os.path.isdir(data):
    data = os.path.realpath(data)
    config.available_features.add("data")
    config.environment["SHARDOPT_DATA"] = data
    config.substitutions.append(("%shardopt_data", data))
    if os.path.isdir(os.path.join(data, "silicon")):
        config.available_features.add("silicon")
else:
    lit_config.note(f"no folder {data} (SHARDOPT_DATA): tests that need it are skipped")
