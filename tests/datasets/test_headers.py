from latefusion.datasets.headers import Header


def test_header_reads_as_a_tuple():
    assert Header(10, 2, None, "kernels") == (10, 2, None, "kernels")
