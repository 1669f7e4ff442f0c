//! Code images: what the engine knows of them, read by `hip-code`.

use hip_code::{Bundle, CodeObject, CompressedBundle, SymbolKind, ValueKind as MetadataKind};
use hrr_core::code::{Image, Kernel, KernelArg, Parser, Symbol, ValueKind};

/// The parser of HIP's images, for [`hrr_core::code::set_parser`].
pub static PARSER: Parser = Parser { copy: hip_code::image::copy_image, parse };

/// Describes an image: an ELF object, a bundle of them, or a compressed bundle. Of a bundle it
/// gives the union over the targets.
fn parse(image: &[u8]) -> Result<Image, String> {
    let mut out = Image::default();
    if CompressedBundle::is_compressed(image) {
        let bundle = CompressedBundle::parse_header(image)
            .and_then(|header| header.decompress(image))
            .map_err(|error| error.to_string())?;
        add_bundle(&mut out, &bundle)?;
    } else if Bundle::is_bundle(image) {
        add_bundle(&mut out, image)?;
    } else {
        add_object(&mut out, image, "the image")?;
    }
    Ok(out)
}

fn add_bundle(out: &mut Image, bundle: &[u8]) -> Result<(), String> {
    let bundle = Bundle::parse(bundle).map_err(|error| error.to_string())?;
    for entry in bundle.entries.iter().filter(|entry| entry.target().is_some()) {
        add_object(out, entry.data, entry.id)?;
    }
    Ok(())
}

fn add_object(out: &mut Image, object: &[u8], name: &str) -> Result<(), String> {
    let told = |error: hip_code::CodeError| format!("{name}: {error}");
    let object = CodeObject::parse(object).map_err(told)?;
    for kernel in object.metadata().map_err(told)?.kernels {
        let visible = kernel.args.iter().filter(|arg| !arg.is_hidden());
        let kernel = Kernel {
            kernarg_bytes: u64::from(kernel.kernarg_bytes),
            args: visible.map(visible_arg).collect(),
            name: kernel.name,
        };
        match out.kernel(&kernel.name) {
            // The targets of a bundle may differ in the hidden arguments and so in the size of
            // the segment; what a caller passes must be the same.
            Some(known) if known.args == kernel.args => {}
            Some(_) => {
                return Err(format!("{name}: `{}` takes other arguments here", kernel.name));
            }
            None => out.kernels.push(kernel),
        }
    }
    for symbol in &object.symbols {
        let variable = symbol.kind == SymbolKind::Object
            && symbol.defined
            && symbol.global
            && !symbol.name.ends_with(".kd");
        if variable && out.symbols.iter().all(|known| known.name != symbol.name) {
            out.symbols.push(Symbol { name: symbol.name.to_owned(), bytes: symbol.bytes });
        }
    }
    Ok(())
}

fn visible_arg(arg: &hip_code::Argument) -> KernelArg {
    let kind = match &arg.kind {
        MetadataKind::ByValue => ValueKind::ByValue,
        MetadataKind::GlobalBuffer => ValueKind::Pointer,
        // An offset in shared memory, an object of the runtime, or something newer: passed as the
        // bytes it is, and named if it cannot be replayed.
        _ => ValueKind::Other,
    };
    KernelArg { offset: u64::from(arg.offset), bytes: u64::from(arg.bytes), kind }
}

#[cfg(test)]
mod tests {
    //! The images are those of `hip-code`; what is in them was read with llvm-readelf.

    use super::*;

    const OBJECT: &[u8] = include_bytes!("../../../hip-code/tests/data/fs.gfx90a.c15.co");
    const BUNDLE: &[u8] = include_bytes!("../../../hip-code/tests/data/fs.bundle");
    const COMPRESSED: &[u8] = include_bytes!("../../../hip-code/tests/data/fs.ccob3");

    #[test]
    fn an_object_has_its_kernels_arguments_and_variables() {
        let image = parse(OBJECT).expect("an image");
        let saxpy = image.kernel("saxpy").expect("a kernel");
        let arg = |offset, bytes, kind| KernelArg { offset, bytes, kind };
        assert_eq!(saxpy.kernarg_bytes, 24);
        assert_eq!(
            saxpy.args,
            [
                arg(0, 4, ValueKind::ByValue),
                arg(4, 4, ValueKind::ByValue),
                arg(8, 8, ValueKind::Pointer),
                arg(16, 8, ValueKind::Pointer),
            ]
        );
        let symbols: Vec<_> = image.symbols.iter().map(|s| (s.name.as_str(), s.bytes)).collect();
        assert_eq!(symbols, [("cTab", 256), ("gInc", 4)]);
    }

    #[test]
    fn a_bundle_compressed_or_not_has_what_its_objects_have() {
        let names = |image: &[u8]| {
            let image = parse(image).expect("an image");
            let mut names: Vec<_> = image.kernels.into_iter().map(|kernel| kernel.name).collect();
            names.sort();
            names
        };
        assert_eq!(names(BUNDLE), names(OBJECT));
        assert_eq!(names(COMPRESSED), names(OBJECT));
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert!(parse(b"not an image").is_err());
        assert!(parse(&OBJECT[..1000]).is_err());
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn an_image_is_copied_whole_from_its_pointer_alone() {
        // SAFETY: nobody writes to the constant.
        let copy = unsafe { (PARSER.copy)(OBJECT.as_ptr()) };
        assert_eq!(copy.as_deref(), Some(OBJECT));
    }
}
