//! The C library of PocketSphinx 5 prealpha, loaded while the process runs: what Debian packages as
//! `libpocketsphinx3`. Only what recognising whole utterances needs is bound.
#![expect(unsafe_code, reason = "PocketSphinx is a C library")]

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use ports::{ErrorKind, PortError, Result};

/// Feature frames per second, the library's `-frate`.
const FRAME_RATE: f64 = 100.0;

/// The functions, as their headers declare them. Opaque structures are void pointers.
struct Functions {
    silence_callback: unsafe extern "C" fn(*const c_void, *mut c_void),
    silence_file: unsafe extern "C" fn(*mut c_void),
    arguments: unsafe extern "C" fn() -> *const c_void,
    parse: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        i32,
        *const *const c_char,
        i32,
    ) -> *mut c_void,
    free_configuration: unsafe extern "C" fn(*mut c_void) -> c_int,
    init: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void) -> c_int,
    start_stream: unsafe extern "C" fn(*mut c_void) -> c_int,
    start_utterance: unsafe extern "C" fn(*mut c_void) -> c_int,
    process: unsafe extern "C" fn(*mut c_void, *const i16, usize, c_int, c_int) -> c_int,
    end_utterance: unsafe extern "C" fn(*mut c_void) -> c_int,
    log_math: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    exp: unsafe extern "C" fn(*mut c_void, c_int) -> c_double,
    segments: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    next_segment: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    word: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    frames: unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int),
    probability: unsafe extern "C" fn(*mut c_void, *mut i32, *mut i32, *mut i32) -> i32,
}

/// The loaded library.
pub(super) struct Library {
    functions: Functions,
    /// Keeps the functions where they are.
    _loaded: libloading::Library,
}

impl Library {
    /// Loads it by path, or by a name that the system's loader knows.
    pub(super) fn load(name: &Path) -> Result<Arc<Self>> {
        let unusable = |e: libloading::Error| {
            PortError::caused_by(
                ErrorKind::Unavailable,
                format!(
                    "cannot load PocketSphinx from {}; Debian and Ubuntu have it in the package \
                     libpocketsphinx3",
                    name.display()
                ),
                e,
            )
        };
        // SAFETY: the library's initialisers do nothing beyond the C runtime's own.
        let loaded = unsafe { libloading::Library::new(name) }.map_err(unusable)?;
        macro_rules! function {
            ($symbol:literal) => {
                // SAFETY: the types above are those of the headers of version 5 prealpha, which
                // version 3 of the shared library implements. The pointer outlives the symbol
                // because the library is kept beside it.
                unsafe { *loaded.get($symbol).map_err(unusable)? }
            };
        }
        let functions = Functions {
            silence_callback: function!(c"err_set_callback"),
            silence_file: function!(c"err_set_logfp"),
            arguments: function!(c"ps_args"),
            parse: function!(c"cmd_ln_parse_r"),
            free_configuration: function!(c"cmd_ln_free_r"),
            init: function!(c"ps_init"),
            free: function!(c"ps_free"),
            start_stream: function!(c"ps_start_stream"),
            start_utterance: function!(c"ps_start_utt"),
            process: function!(c"ps_process_raw"),
            end_utterance: function!(c"ps_end_utt"),
            log_math: function!(c"ps_get_logmath"),
            exp: function!(c"logmath_exp"),
            segments: function!(c"ps_seg_iter"),
            next_segment: function!(c"ps_seg_next"),
            word: function!(c"ps_seg_word"),
            frames: function!(c"ps_seg_frames"),
            probability: function!(c"ps_seg_prob"),
        };
        Ok(Arc::new(Self { functions, _loaded: loaded }))
    }
}

/// A stretch of an utterance: a word, silence or noise.
pub(super) struct Segment {
    /// As the dictionary spells it: `word`, `word(2)`, `<sil>`, `[NOISE]`.
    pub(super) word: String,
    /// Seconds from the start of the utterance.
    pub(super) start: f64,
    pub(super) end: f64,
    /// Of the word against its rivals at that place, 0..1.
    pub(super) probability: f64,
}

/// A decoder with its models in memory. It takes one utterance at a time.
pub(super) struct Decoder {
    library: Arc<Library>,
    raw: NonNull<c_void>,
}

// SAFETY: a decoder owns its state, shares none with other decoders and is not bound to a thread;
// `&mut self` keeps two threads from using it at once.
unsafe impl Send for Decoder {}

impl Decoder {
    /// Opens the models that the options, as `("-hmm", folder)`, name. *Blocks*. The library ends
    /// the process over some damaged model files, so these must come from where it does.
    pub(super) fn open(library: &Arc<Library>, options: &[(&str, &str)]) -> Result<Self> {
        let call = &library.functions;
        let text = |text: &str| {
            CString::new(text).map_err(|e| {
                let message = format!("the PocketSphinx option {text:?} has a zero byte");
                PortError::caused_by(ErrorKind::Invalid, message, e)
            })
        };
        let mut texts = vec![text("shotlog")?];
        for (name, value) in options {
            texts.extend([text(name)?, text(value)?]);
        }
        let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        // SAFETY: null is how both functions are told to stay silent; the texts live until the
        // configuration has copied them; the configuration is counted, and the decoder holds its
        // own count of it.
        let raw = unsafe {
            (call.silence_file)(ptr::null_mut());
            (call.silence_callback)(ptr::null(), ptr::null_mut());
            let configuration = (call.parse)(
                ptr::null_mut(),
                (call.arguments)(),
                pointers.len() as i32,
                pointers.as_ptr(),
                1,
            );
            if configuration.is_null() {
                let message = "this PocketSphinx does not know the options it was given";
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            let raw = (call.init)(configuration);
            (call.free_configuration)(configuration);
            raw
        };
        let raw = NonNull::new(raw).ok_or_else(|| {
            PortError::new(ErrorKind::Invalid, "PocketSphinx cannot use its model files")
        })?;
        Ok(Self { library: Arc::clone(library), raw })
    }

    /// What was said, with what was heard between it. Depends on nothing decoded before. *Blocks*.
    pub(super) fn decode(&mut self, samples: &[i16]) -> Result<Vec<Segment>> {
        let call = &self.library.functions;
        let raw = self.raw.as_ptr();
        let step = |what: &str, status: c_int| match status {
            status if status < 0 => Err(PortError::new(
                ErrorKind::Other,
                format!("PocketSphinx cannot {what} an utterance of {} samples", samples.len()),
            )),
            _ => Ok(()),
        };
        // SAFETY: the decoder is open and used by this thread alone; the samples are read during
        // the call only. A new stream forgets the noise of the one before.
        let heard = unsafe {
            step("prepare", (call.start_stream)(raw))?;
            step("begin", (call.start_utterance)(raw))?;
            let heard = (call.process)(raw, samples.as_ptr(), samples.len(), 0, 1);
            step("end", (call.end_utterance)(raw))?;
            heard
        };
        step("decode", heard)?;
        let mut segments = Vec::new();
        // SAFETY: the iterator belongs to the decoder, which does nothing else meanwhile. Advancing
        // it past the end frees it and gives null. A word is valid until then and copied before.
        unsafe {
            let log_math = (call.log_math)(raw);
            let mut segment = (call.segments)(raw);
            while !segment.is_null() {
                let (mut first, mut last) = (0, 0);
                (call.frames)(segment, &mut first, &mut last);
                let log =
                    (call.probability)(segment, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
                let word = (call.word)(segment);
                if !word.is_null() {
                    segments.push(Segment {
                        word: CStr::from_ptr(word).to_string_lossy().into_owned(),
                        start: f64::from(first) / FRAME_RATE,
                        end: f64::from(last + 1) / FRAME_RATE,
                        probability: (call.exp)(log_math, log),
                    });
                }
                segment = (call.next_segment)(segment);
            }
        }
        Ok(segments)
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the decoder is open, and nothing uses it any more.
        unsafe {
            (self.library.functions.free)(self.raw.as_ptr());
        }
    }
}
