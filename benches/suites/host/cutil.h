// What CUDA's old samples use of their helper library.
#pragma once
#define CUDA_SAFE_CALL(call) call
#define CUT_SAFE_CALL(call) call
#define CUT_SAFE_MALLOC(call) call
#define CUT_CHECK_ERROR(message)
#define CUT_EXIT(argc, argv)
#define CUT_DEVICE_INIT(...)
#define CUT_BANK_CHECKER(array, index) array[index]
inline void cutCreateTimer(unsigned *) {}
inline void cutStartTimer(unsigned) {}
inline void cutStopTimer(unsigned) {}
inline void cutDeleteTimer(unsigned) {}
inline float cutGetTimerValue(unsigned) { return 0; }
