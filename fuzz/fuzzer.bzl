"""A fuzzer and the replay of its corpus."""

def fuzzer(name, deps):
    """Defines NAME_fuzzer (with --config=fuzz only) and NAME_corpus_test.

    Args:
      name: of NAME_fuzzer.cc and of the folder testdata/fuzz/NAME
      deps: what the fuzzer calls
    """
    sources = [name + "_fuzzer.cc", "fuzzer.h"]
    dependencies = deps + ["//third_party/absl"]
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = sources,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = dependencies,
    )
    native.cc_test(
        name = name + "_corpus_test",
        size = "small",
        srcs = sources + ["replay_main.cc"],
        args = ["testdata/fuzz/" + name],
        data = ["//testdata/fuzz:" + name],
        deps = dependencies + ["//base:file"],
    )
