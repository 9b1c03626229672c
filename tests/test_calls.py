from __future__ import annotations

import pytest

from akvsite.calls import EXPECTS, kind_of_call

NAMES = {
    "launch": (
        "cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernel_ptsz",
        "cuLaunchKernel",
        "cuLaunchKernelEx", "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipExtLaunchKernel",
        "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel",
        "urEnqueueKernelLaunch",
        "urEnqueueCooperativeKernelLaunch", "zeCommandListAppendLaunchKernel",
        "zeCommandListAppendLaunchCooperativeKernel", "runFunction - job_prep_and_submit_for_execution",
    ),
    "copy": (
        "cudaMemcpyAsync", "cudaMemcpy2DAsync", "cuMemcpyHtoDAsync_v2", "hipMemcpyWithStream",
        "hipMemcpyAsync",
        "urEnqueueUSMMemcpy", "urEnqueueMemBufferRead", "zeCommandListAppendMemoryCopy",
        "enqueueCommand memcpyHtoDAsync",
    ),
    "fill": ("cudaMemsetAsync", "cuMemsetD32Async", "hipMemsetAsync", "urEnqueueUSMFill",
             "zeCommandListAppendMemoryFill"),
    "graph replay": ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch", "urCommandBufferEnqueueExp"),
    "wait": (
        "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize",
        "hipDeviceSynchronize", "hipEventSynchronize", "urQueueFinish", "urEventWait",
        "zeCommandQueueSynchronize",
        "zeEventHostSynchronize", "synchronizeStream",
    ),
    "other": (
        "cudaMalloc", "cudaFuncSetAttribute", "cudaStreamIsCapturing",
        "hipGetDevicePropertiesR0600", "recordEvent",
        "cudaLaunchHostFunc", "cudaGraphInstantiate", "urEventWaitWithBarrier", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_the_kind_of_a_call(kind, name):
    assert kind_of_call(name) == kind


def test_what_is_expected_to_leave_device_records_is_a_kind():
    assert set(EXPECTS) <= set(NAMES)
