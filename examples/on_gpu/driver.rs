//! The CUDA driver (libcuda), loaded when the program runs: the functions that
//! launch a kernel in PTX. No toolkit is needed.

use libloading::Library;
use spadkit::error::{Error, Failure, Result};
use spadkit::ptx::exec::Launch;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

type Status = c_int;
type Handle = *mut c_void;
type Address = u64;

/// From cuda.h.
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const MULTIPROCESSOR_COUNT: c_int = 16;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
const LAUNCH_PARAM_BUFFER_POINTER: usize = 1;
const LAUNCH_PARAM_BUFFER_SIZE: usize = 2;
/// Dynamic shared memory that every kernel may have without asking.
const DEFAULT_SHARED: u32 = 48 * 1024;
/// Bytes of the assembler's messages.
const LOG_BYTES: usize = 8192;

/// Declares the functions of the driver that are used, and loads them.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($arg:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($arg),*) -> Status,)* }

        impl Functions {
            fn load(library: &Library) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: the signatures are those of cuda.h.
                unsafe { Ok(Functions { $($field: *library.get($symbol)?,)* }) }
            }
        }
    };
}

functions! {
    init = b"cuInit" (c_uint);
    device_get = b"cuDeviceGet" (*mut c_int, c_int);
    device_name = b"cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_attribute = b"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    context_retain = b"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    context_set = b"cuCtxSetCurrent" (Handle);
    synchronize = b"cuCtxSynchronize" ();
    module_load = b"cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *const c_int, *const *mut c_void);
    module_function = b"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    module_global = b"cuModuleGetGlobal_v2" (*mut Address, *mut usize, Handle, *const c_char);
    function_set = b"cuFuncSetAttribute" (Handle, c_int, c_int);
    alloc = b"cuMemAlloc_v2" (*mut Address, usize);
    to_device = b"cuMemcpyHtoD_v2" (Address, *const c_void, usize);
    to_host = b"cuMemcpyDtoH_v2" (*mut c_void, Address, usize);
    launch = b"cuLaunchKernel" (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *const *mut c_void, *const *const c_void);
    event_create = b"cuEventCreate" (*mut Handle, c_uint);
    event_record = b"cuEventRecord" (Handle, Handle);
    event_wait = b"cuEventSynchronize" (Handle);
    event_elapsed = b"cuEventElapsedTime" (*mut f32, Handle, Handle);
    error_text = b"cuGetErrorString" (Status, *mut *const c_char);
}

/// The first GPU of the machine. What is allocated on it lives as long as the
/// program.
pub struct Gpu {
    functions: Functions,
    events: [Handle; 2],
    /// Its name, from the driver.
    pub name: String,
    /// Compute capability: 90 for 9.0.
    pub sm: u32,
    /// Number of SMs.
    pub sms: u32,
    /// Keeps the code of the functions loaded.
    _library: Library,
}

/// A kernel that is ready to be launched.
pub struct GpuFunction(Handle);

/// PTX that the driver has assembled.
pub struct Loaded(Handle);

impl Gpu {
    /// Opens it. Errors: no driver, no GPU.
    pub fn open() -> Result<Self> {
        let missing = |e: libloading::Error| Error::ToolMissing {
            tool: "libcuda.so.1".into(),
            help: format!("expected an NVIDIA driver on this machine ({e})"),
        };
        // SAFETY: the driver's initialisation has no preconditions.
        let library = unsafe { Library::new("libcuda.so.1") }.map_err(missing)?;
        let functions = Functions::load(&library).map_err(missing)?;
        let mut gpu = Gpu {
            functions,
            events: [null_mut(); 2],
            name: String::new(),
            sm: 0,
            sms: 0,
            _library: library,
        };
        gpu.start()?;
        Ok(gpu)
    }

    fn start(&mut self) -> Result<()> {
        let (f, mut device, mut context) = (&self.functions, 0, null_mut());
        let mut name = [0 as c_char; 256];
        // SAFETY: every pointer is to a variable of the type that cuda.h has.
        unsafe {
            self.check("cuInit", (f.init)(0))?;
            self.check("cuDeviceGet", (f.device_get)(&mut device, 0))?;
            let named = (f.device_name)(name.as_mut_ptr(), name.len() as c_int, device);
            self.check("cuDeviceGetName", named)?;
            let retained = (f.context_retain)(&mut context, device);
            self.check("cuDevicePrimaryCtxRetain", retained)?;
            self.check("cuCtxSetCurrent", (f.context_set)(context))?;
        }
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: as above.
            let status = unsafe { (f.device_attribute)(&mut value, which, device) };
            self.check("cuDeviceGetAttribute", status)?;
            Ok(value as u32)
        };
        let sm = 10 * attribute(COMPUTE_CAPABILITY_MAJOR)? + attribute(COMPUTE_CAPABILITY_MINOR)?;
        let sms = attribute(MULTIPROCESSOR_COUNT)?;
        let mut events = [null_mut(); 2];
        for event in &mut events {
            // SAFETY: as above.
            self.check("cuEventCreate", unsafe { (f.event_create)(event, 0) })?;
        }
        // SAFETY: the driver ends the name with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        let name = name.to_string_lossy().into_owned();
        (self.sm, self.sms, self.events, self.name) = (sm, sms, events, name);
        Ok(())
    }

    /// Assembles PTX for the GPU.
    pub fn load(&self, ptx: &str) -> Result<Loaded> {
        let text = c_string(ptx)?;
        let mut log = vec![0u8; LOG_BYTES];
        let options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let values = [log.as_mut_ptr().cast(), LOG_BYTES as *mut c_void];
        let mut module = null_mut();
        // SAFETY: the text ends with a zero, and the log is as long as it says.
        let status = unsafe {
            let text = text.as_ptr().cast();
            let (options, values) = (options.as_ptr(), values.as_ptr());
            (self.functions.module_load)(&mut module, text, 2, options, values)
        };
        let end = log.iter().position(|&b| b == 0).unwrap_or(0);
        let log = String::from_utf8_lossy(&log[..end]);
        let call = format!("cuModuleLoadDataEx {}", log.trim());
        self.check(call.trim(), status)?;
        Ok(Loaded(module))
    }

    /// An entry of a module, with as much dynamic shared memory as the launch
    /// gives it.
    pub fn kernel(&self, module: &Loaded, launch: &Launch) -> Result<GpuFunction> {
        let name = c_string(&launch.entry)?;
        let mut function = null_mut();
        let f = &self.functions;
        // SAFETY: the name ends with a zero.
        let status = unsafe { (f.module_function)(&mut function, module.0, name.as_ptr()) };
        self.check("cuModuleGetFunction", status)?;
        if launch.dynamic_shared > DEFAULT_SHARED {
            let (what, bytes) = (MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.dynamic_shared);
            // SAFETY: the function is of a module that stays loaded.
            let status = unsafe { (f.function_set)(function, what, bytes as c_int) };
            self.check("cuFuncSetAttribute", status)?;
        }
        Ok(GpuFunction(function))
    }

    /// The address of a module variable.
    pub fn variable(&self, module: &Loaded, name: &str) -> Result<u64> {
        let text = c_string(name)?;
        let (mut address, mut bytes) = (0, 0);
        let f = &self.functions;
        // SAFETY: the name ends with a zero.
        let status =
            unsafe { (f.module_global)(&mut address, &mut bytes, module.0, text.as_ptr()) };
        self.check(&format!("cuModuleGetGlobal {name}"), status)?;
        Ok(address)
    }

    /// Allocates memory of this many bytes.
    pub fn alloc(&self, bytes: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: the address is written, nothing else.
        let status = unsafe { (self.functions.alloc)(&mut address, bytes.max(1)) };
        self.check("cuMemAlloc", status)?;
        Ok(address)
    }

    /// Writes bytes at an address.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the bytes are borrowed, and the address is of as many.
        let status =
            unsafe { (self.functions.to_device)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", status)
    }

    /// Reads `bytes` bytes from an address.
    pub fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut read = vec![0u8; bytes];
        // SAFETY: as above.
        let status = unsafe { (self.functions.to_host)(read.as_mut_ptr().cast(), address, bytes) };
        self.check("cuMemcpyDtoH", status)?;
        Ok(read)
    }

    /// Launches a kernel and waits for its end.
    pub fn run(&self, kernel: &GpuFunction, launch: &Launch) -> Result<()> {
        self.enqueue(kernel, launch)?;
        self.synchronize()
    }

    /// Launches a kernel and waits for its end: the microseconds between events
    /// before and after it.
    pub fn time(&self, kernel: &GpuFunction, launch: &Launch) -> Result<f64> {
        let f = &self.functions;
        let [begin, end] = self.events;
        let mut milliseconds = 0f32;
        // SAFETY: the events live as long as the program.
        unsafe {
            self.check("cuEventRecord", (f.event_record)(begin, null_mut()))?;
            self.enqueue(kernel, launch)?;
            self.check("cuEventRecord", (f.event_record)(end, null_mut()))?;
            self.check("cuEventSynchronize", (f.event_wait)(end))?;
            let elapsed = (f.event_elapsed)(&mut milliseconds, begin, end);
            self.check("cuEventElapsedTime", elapsed)?;
        }
        Ok(f64::from(milliseconds) * 1e3)
    }

    fn enqueue(&self, kernel: &GpuFunction, launch: &Launch) -> Result<()> {
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let bytes = launch.params.len();
        let extra: [*const c_void; 5] = [
            LAUNCH_PARAM_BUFFER_POINTER as *const c_void,
            launch.params.as_ptr().cast(),
            LAUNCH_PARAM_BUFFER_SIZE as *const c_void,
            (&raw const bytes).cast(),
            null(),
        ];
        let (shared, stream) = (launch.dynamic_shared, null_mut());
        // SAFETY: the parameters are packed as the entry has them, and are copied
        // before the call returns.
        let status = unsafe {
            let launch = self.functions.launch;
            let (kernel, extra) = (kernel.0, extra.as_ptr());
            launch(
                kernel,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                stream,
                null(),
                extra,
            )
        };
        self.check("cuLaunchKernel", status)
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: no arguments.
        self.check("cuCtxSynchronize", unsafe {
            (self.functions.synchronize)()
        })
    }

    fn check(&self, call: &str, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        let mut text = null();
        // SAFETY: the text is the driver's own.
        let text = unsafe {
            (self.functions.error_text)(status, &mut text);
            if text.is_null() {
                format!("error {status}")
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        Err(Error::ToolFailed {
            tool: "libcuda.so.1".into(),
            what: format!("{call}: {text}"),
            failure: Failure::Output,
            help: None,
        })
    }
}

fn c_string(text: &str) -> Result<CString> {
    let wrong = |_| Error::usage("a zero byte in the PTX", "expected text");
    CString::new(text).map_err(wrong)
}
