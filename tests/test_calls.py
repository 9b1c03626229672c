from __future__ import annotations

import pytest

from akvsite.calls import EXPECTS, handle_of_call, kind_of_call, kind_of_interval, plain_name

NAMES = {
    "launch": (
        "cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernel_ptsz",
        "cuLaunchKernel",
        "cuLaunchKernelEx", "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipExtLaunchKernel",
        "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel",
        "urEnqueueKernelLaunch", "urEnqueueKernelLaunchWithArgsExp", "urEnqueueKernelLaunchCustomExp",
        "urEnqueueCooperativeKernelLaunch", "urEnqueueCooperativeKernelLaunchExp", "__cudaLaunchKernel_ptsz",
        "cudaLaunchKernelExC_ptsz", "cuLaunchCooperativeKernel", "cuLaunchKernelEx_ptsz", "zeCommandListAppendLaunchKernel",
        "zeCommandListAppendLaunchCooperativeKernel", "runFunction - job_prep_and_submit_for_execution",
    ),
    "copy": (
        "cudaMemcpyAsync", "cudaMemcpy2DAsync", "cuMemcpyHtoDAsync_v2", "hipMemcpyWithStream",
        "hipMemcpyAsync",
        "urEnqueueUSMMemcpy", "urEnqueueUSMMemcpy2D", "urEnqueueUSMPrefetch", "urEnqueueMemBufferRead",
        "urEnqueueMemBufferReadRect", "urEnqueueMemBufferWrite", "urEnqueueMemBufferWriteRect",
        "urEnqueueMemBufferCopy", "urEnqueueMemBufferCopyRect", "urEnqueueMemImageRead", "urEnqueueMemImageWrite",
        "urEnqueueMemImageCopy", "urEnqueueDeviceGlobalVariableRead", "urEnqueueDeviceGlobalVariableWrite",
        "urEnqueueReadHostPipe", "urEnqueueWriteHostPipe", "urBindlessImagesImageCopyExp", "urUSMContextMemcpyExp",
        "cudaMemcpyPeerAsync", "cudaMemcpyAsync_ptsz", "cuMemcpyDtoHAsync_v2_ptsz", "zeCommandListAppendMemoryCopy",
        "enqueueCommand memcpyHtoDAsync",
    ),
    "fill": ("cudaMemsetAsync", "cuMemsetD32Async", "hipMemsetAsync", "urEnqueueUSMFill",
             "urEnqueueUSMFill2D", "urEnqueueMemBufferFill", "cuMemsetD8Async_v2", "zeCommandListAppendMemoryFill"),
    "graph replay": ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch", "urCommandBufferEnqueueExp",
                     "urEnqueueCommandBufferExp", "urEnqueueGraphExp"),
    "wait": (
        "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize",
        "hipDeviceSynchronize", "hipEventSynchronize", "urQueueFinish", "urEventWait", "urDeviceWaitExp",
        "zeCommandQueueSynchronize",
        "zeEventHostSynchronize", "synchronizeStream",
    ),
    "other": (
        "cudaMalloc", "cudaFuncSetAttribute", "cudaStreamIsCapturing",
        "hipGetDevicePropertiesR0600", "recordEvent",
        "cudaLaunchHostFunc", "cudaGraphInstantiate", "urEventWaitWithBarrier", "",
        # They hold a queue and not the host, or put nothing on a queue.
        "cudaStreamWaitEvent", "cuStreamWaitEvent", "urEnqueueEventsWait", "urEnqueueEventsWaitWithBarrier",
        "urEnqueueEventsWaitWithBarrierExt", "urEnqueueTimestampRecordingExp", "urEnqueueHostTaskExp",
        "urEnqueueNativeCommandExp", "urEnqueueMemBufferMap", "urEnqueueMemUnmap", "urEnqueueUSMAdvise",
        "urEnqueueUSMDeviceAllocExp", "urEnqueueUSMFreeExp", "urCommandBufferAppendKernelLaunchExp",
        "urCommandBufferAppendUSMMemcpyExp", "urUSMHostAlloc", "urQueueFlush",
        "urBindlessImagesWaitExternalSemaphoreExp",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_the_kind_of_a_call(kind, name):
    assert kind_of_call(name) == kind


def test_what_is_expected_to_leave_device_records_is_a_kind():
    assert set(EXPECTS) <= set(NAMES)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("urEnqueueKernelLaunch", "kernel"), ("urEnqueueUSMMemcpy", "copy"), ("urEnqueueUSMFill", "fill"),
        ("urEnqueueEventsWaitWithBarrierExt", "wait"), ("urEnqueueTimestampRecordingExp", "wait"),
        ("urEnqueueCommandBufferExp", "other"), ("urEnqueueNativeCommandExp", "other"),
    ],
)  # fmt: skip
def test_the_kind_of_a_device_record(name, kind):
    assert kind_of_interval(name) == kind


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("__cudaLaunchKernel", "cudaLaunchKernel"), ("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync"),
        ("cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync"), ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"),
        ("urEnqueueUSMMemcpy2D", "urEnqueueUSMMemcpy2D"), ("hip_made_v", "hip_made_v"),
    ],
)  # fmt: skip
def test_two_tools_mean_the_same_call_by_its_plain_name(name, plain):
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("urEventRelease", ("event", "released")), ("urEventCreateWithNativeHandle", ("event", "created")),
        ("cudaEventCreateWithFlags", ("event", "created")), ("urKernelCreate", ("kernel", "created")),
        ("urMemBufferCreate", ("buffer or image", "created")), ("urMemRelease", ("buffer or image", "released")),
        ("urUSMDeviceAlloc", ("device memory", "created")), ("urUSMHostAlloc", ("host memory", "created")),
        ("urUSMFree", ("memory, of either sort", "released")), ("urUSMPoolCreate", ("memory pool", "created")),
        ("cudaMallocHost", ("host memory", "created")), ("cudaFreeHost", ("host memory", "released")),
        ("cudaMallocAsync_ptsz", ("device memory", "created")), ("cudaFreeAsync", ("device memory", "released")),
        ("cudaStreamDestroy", ("queue", "released")), ("cudaGraphExecDestroy", ("graph", "released")),
        ("urUSMHostAllocRegisterExp", None), ("urEventWait", None), ("urEventGetInfo", None), ("urEnqueueUSMFreeExp", None),
    ],
)  # fmt: skip
def test_what_a_call_does_to_handles(name, does):
    assert handle_of_call(name) == does
