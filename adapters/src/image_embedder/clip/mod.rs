//! Image embedders of the CLIP and SigLIP classes on ONNX Runtime: one network for images, one for
//! texts, and vectors of the same space.

mod folder;
mod preprocessing;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ort::session::{Session, SessionInputValue};
use ort::value::{Outlet, Tensor, TensorElementType, TensorRef, ValueType};
use ports::decoder::Image;
use ports::image_embedder::{ImageEmbedder, MatchModel};
use ports::vector::normalized;
use ports::{ErrorKind, PortError, Result};
use tokenizers::Tokenizer;

use crate::onnx::{
    Inputs, Pool, Runtime, Threading, digest, failed, fitting, open_tokenizer, unfit,
};
use folder::ModelFolder;
use preprocessing::ClipPreprocessing;

/// Options of [`ClipEmbedder::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct ClipOptions {
    /// The folder of the model, in the layout of transformers.js or of Immich; see [`ClipEmbedder`].
    pub folder: PathBuf,
    /// How probable it is that an image shows what a text names, by their cosine.
    pub match_model: MatchModel,
    /// Numbers of threads and sessions of the image network. The text network has one session.
    pub threading: Threading,
}

/// The embedder. Its folder has one of two layouts:
///
/// - transformers.js: `onnx/vision_model.onnx` and `onnx/text_model.onnx` (or their `_quantized`,
///   `_int8` or `_uint8` variants), `preprocessor_config.json`, `tokenizer.json`,
///   `tokenizer_config.json`.
/// - Immich: `visual/model.onnx`, `visual/preprocess_cfg.json`, `textual/model.onnx`,
///   `textual/tokenizer.json`, `textual/tokenizer_config.json`.
pub struct ClipEmbedder {
    name: String,
    dimension: usize,
    match_model: MatchModel,
    vision: Arc<VisionNetwork>,
    texts: Arc<TextNetwork>,
}

/// Increment if a code change makes the same files yield different vectors.
const REVISION: u8 = 1;

/// Number of tokens of a text, unless the network or the tokenizer's configuration states another.
const CONTEXT: usize = 77;

impl ClipEmbedder {
    /// Opens the networks and runs each once, so that an unsuitable model fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: &ClipOptions) -> Result<Self> {
        let folder = ModelFolder::open(&options.folder)?;
        let vision = VisionNetwork::open(runtime, &folder, options.threading)?;
        let texts = TextNetwork::open(runtime, &folder, options.threading.threads)?;
        let image = Image { width: 1, height: 1, rgb: vec![127; 3] };
        let of_images = vision.embed(&image).map_err(|e| unfit(&folder.vision, e))?.len();
        let of_texts = texts.embed("a photo").map_err(|e| unfit(&folder.text, e))?.len();
        if of_images != of_texts {
            let why = format!(
                "its vectors have {of_texts} components and those of {} have {of_images}; both \
                 files must be of the same model",
                folder.vision.display()
            );
            return Err(unfit(&folder.text, why));
        }
        let model = options.folder.file_name().unwrap_or_default().to_string_lossy();
        let files = digest(REVISION, folder.files())?;
        Ok(Self {
            name: format!("{model}-{files}"),
            dimension: of_images,
            match_model: options.match_model,
            vision: Arc::new(vision),
            texts: Arc::new(texts),
        })
    }
}

#[async_trait]
impl ImageEmbedder for ClipEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn match_model(&self) -> MatchModel {
        self.match_model
    }

    async fn embed_images(&self, images: &[Image]) -> Result<Vec<Vec<f32>>> {
        let (vision, images) = (Arc::clone(&self.vision), images.to_vec());
        crate::blocking::run(move || images.iter().map(|image| vision.embed(image)).collect()).await
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let (network, texts) = (Arc::clone(&self.texts), texts.to_vec());
        crate::blocking::run(move || texts.iter().map(|text| network.embed(text)).collect()).await
    }
}

/// The network for images.
struct VisionNetwork {
    pool: Pool,
    preprocessing: ClipPreprocessing,
    output: String,
}

impl VisionNetwork {
    fn open(runtime: &Runtime, folder: &ModelFolder, threading: Threading) -> Result<Self> {
        let pool = Pool::open(runtime, &folder.vision, threading, Inputs::FixedSize)?;
        let output = pool.with(|session| Ok(output_name(session, "image_embeds")))?;
        let output = output.ok_or_else(|| unfit(&folder.vision, NO_OUTPUT))?;
        Ok(Self { pool, preprocessing: folder.preprocessing.clone(), output })
    }

    /// Returns the unit vector of an image. *Blocks*.
    fn embed(&self, image: &Image) -> Result<Vec<f32>> {
        let pixels = self.preprocessing.pixels(image)?;
        let (width, height) = self.preprocessing.size();
        self.pool.with(|session| {
            let shape = [1, 3, height as usize, width as usize];
            let input = TensorRef::from_array_view((shape, &pixels[..])).map_err(failed)?;
            let outputs = session.run(ort::inputs![input]).map_err(failed)?;
            unit_vector(&outputs[self.output.as_str()])
        })
    }
}

/// The network for texts.
struct TextNetwork {
    pool: Pool,
    tokenizer: Tokenizer,
    /// Maximum number of tokens of a text, including special tokens.
    context: usize,
    layout: TextInputs,
    output: String,
}

/// What the text network reads.
struct TextInputs {
    ids: String,
    /// The input that marks which tokens are not padding, if the network has one.
    mask: Option<String>,
    /// Whether tokens are 32-bit integers instead of 64-bit ones.
    short: bool,
    /// The exact number of tokens of each text; `None` if a text may have any number.
    length: Option<usize>,
    /// The token that fills up a text.
    padding: u32,
}

impl TextNetwork {
    fn open(runtime: &Runtime, folder: &ModelFolder, threads: usize) -> Result<Self> {
        let threading = Threading { threads, sessions: 1 };
        let pool = Pool::open(runtime, &folder.text, threading, Inputs::Varied)?;
        let described = pool.with(|session| {
            Ok(TokenInputs::read(session).zip(output_name(session, "text_embeds")))
        })?;
        let (inputs, output) = described.ok_or_else(|| {
            let why = "it needs an input of token ids with the shape [batch, tokens], and an output \
                       with the shape [batch, components]";
            unfit(&folder.text, why)
        })?;
        let TokenInputs { ids, mask, kind, fixed } = inputs;
        let context = fixed.or(folder.context).unwrap_or(CONTEXT);
        let tokenizer = open_tokenizer(&folder.tokenizer, Some(context))?;
        let padding = folder.pad_token.as_deref().and_then(|token| tokenizer.token_to_id(token));
        let layout = TextInputs {
            ids,
            // Without a mask, the network was trained on texts that are filled up.
            length: (fixed.is_some() || mask.is_none()).then_some(context),
            mask,
            short: kind == TensorElementType::Int32,
            padding: padding.unwrap_or(0),
        };
        Ok(Self { pool, tokenizer, context, layout, output })
    }

    /// Returns the unit vector of a text. *Blocks*.
    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let text = fitting(text, self.context);
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|e| {
            PortError::new(ErrorKind::Invalid, format!("the text cannot be tokenized: {e}"))
        })?;
        let inputs = self.layout.inputs(encoding.get_ids())?;
        self.pool.with(|session| {
            let outputs = session.run(inputs).map_err(failed)?;
            unit_vector(&outputs[self.output.as_str()])
        })
    }
}

impl TextInputs {
    fn inputs(&self, ids: &[u32]) -> Result<Vec<(String, SessionInputValue<'static>)>> {
        let length = self.length.unwrap_or(ids.len()).max(1);
        let mut padded = ids.to_vec();
        padded.resize(length, self.padding);
        let mut inputs = vec![(self.ids.clone(), self.tensor(&padded)?)];
        if let Some(mask) = &self.mask {
            let marks: Vec<u32> = (0..length).map(|at| u32::from(at < ids.len())).collect();
            inputs.push((mask.clone(), self.tensor(&marks)?));
        }
        Ok(inputs)
    }

    fn tensor(&self, values: &[u32]) -> Result<SessionInputValue<'static>> {
        let shape = [1, values.len()];
        Ok(if self.short {
            let values: Vec<i32> = values.iter().map(|value| value.cast_signed()).collect();
            Tensor::from_array((shape, values)).map_err(failed)?.into()
        } else {
            let values: Vec<i64> = values.iter().map(|value| i64::from(*value)).collect();
            Tensor::from_array((shape, values)).map_err(failed)?.into()
        })
    }
}

/// The inputs of a text network, as its file describes them.
struct TokenInputs {
    ids: String,
    mask: Option<String>,
    kind: TensorElementType,
    /// The number of tokens, if it is fixed.
    fixed: Option<usize>,
}

impl TokenInputs {
    /// Returns `None` if there is no input of token ids.
    fn read(session: &Session) -> Option<Self> {
        let inputs = session.inputs();
        let named = |name: &str| inputs.iter().find(|input| input.name() == name);
        let ids = named("input_ids").or_else(|| named("text")).or(inputs.first())?;
        let ValueType::Tensor { ty, shape, .. } = ids.dtype() else { return None };
        let [_, tokens] = <[i64; 2]>::try_from(&shape[..]).ok()?;
        let is_integer = matches!(ty, TensorElementType::Int32 | TensorElementType::Int64);
        is_integer.then(|| Self {
            ids: ids.name().to_owned(),
            mask: named("attention_mask").map(|mask| mask.name().to_owned()),
            kind: *ty,
            fixed: usize::try_from(tokens).ok().filter(|tokens| *tokens > 0),
        })
    }
}

const NO_OUTPUT: &str = "it needs an output with the shape [batch, components]";

/// Returns the name of the output that holds the vector: `preferred`, the pooled output, or the
/// first one that has one vector per input.
fn output_name(session: &Session, preferred: &str) -> Option<String> {
    let outputs = session.outputs();
    let named = |name: &str| outputs.iter().find(|output| output.name() == name);
    let is_vector = |output: &&Outlet| matches!(output.dtype(), ValueType::Tensor { shape, .. } if shape.len() == 2);
    let output = named(preferred).or_else(|| named("pooler_output"));
    output.or_else(|| outputs.iter().find(is_vector)).map(|output| output.name().to_owned())
}

/// Reads a vector and scales it to length 1.
fn unit_vector(output: &ort::value::DynValue) -> Result<Vec<f32>> {
    let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
    let is_vector = matches!(shape[..], [1, components] if components > 0);
    if !is_vector || !values.iter().all(|value| value.is_finite()) {
        let why = format!("an output of the shape {shape:?} is no vector of finite numbers");
        return Err(PortError::new(ErrorKind::Invalid, why));
    }
    Ok(normalized(values.to_vec()))
}
