//! Reads lengths: `bytes = min(pitch, width) * height`.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitInt, Token};

use crate::args::{Names, parenthesized, parse_name};
use crate::errors::{did_you_mean, expected_one_of};
use crate::model::Len;

/// A length that ends with the argument.
pub(crate) fn parse_length(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let length = parse_len(input, names)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(length);
    }
    Err(input.error("expected the end of the length, which is a product or a minimum"))
}

/// `LENGTH = factor ('*' factor)*`.
fn parse_len(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let first = parse_factor(input, names)?;
    if !input.peek(Token![*]) {
        return Ok(first);
    }
    let mut factors = vec![first];
    while input.peek(Token![*]) {
        input.parse::<Token![*]>()?;
        factors.push(parse_factor(input, names)?);
    }
    Ok(Len::Product(factors))
}

fn parse_factor(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    if input.peek(LitInt) {
        let token: LitInt = input.parse()?;
        if !token.suffix().is_empty() {
            return Err(syn::Error::new_spanned(token, "a length has no suffix"));
        }
        let Ok(value) = token.base10_parse() else {
            return Err(syn::Error::new_spanned(
                token,
                "expected a number of 64 bits, not negative",
            ));
        };
        return Ok(Len::Literal { value, token });
    }
    if input.peek(syn::token::Paren) {
        return parenthesized(input, |content| parse_len(content, names));
    }
    if !input.peek(Ident::peek_any) && !input.peek(Token![::]) && !input.peek(Token![<]) {
        return Err(input.error(
            "expected a length: a number, a name, `before(name)`, `after(name)`, \
             `min(.., ..)`, a product, or the path of a function, with `::`",
        ));
    }
    if input.peek2(syn::token::Paren) {
        return parse_length_call(input, names);
    }
    if input.peek(Ident::peek_any) && !input.peek2(Token![::]) {
        return Ok(Len::Param(parse_name(input, names)?));
    }
    Ok(Len::Call(input.parse()?))
}

/// `before(name)`, `after(name)` and `min(LENGTH, LENGTH, ..)`.
fn parse_length_call(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Len> {
    let word = input.call(Ident::parse_any)?;
    parenthesized(input, |content| match word.to_string().as_str() {
        "before" => Ok(Len::Before(parse_name(content, names)?)),
        "after" => Ok(Len::After(parse_name(content, names)?)),
        "min" => {
            let mut lengths = vec![parse_len(content, names)?];
            while content.peek(Token![,]) {
                content.parse::<Token![,]>()?;
                lengths.push(parse_len(content, names)?);
            }
            if lengths.len() < 2 {
                return Err(syn::Error::new_spanned(&word, "`min` takes two lengths or more"));
            }
            Ok(Len::Min(lengths))
        }
        other => {
            let known = ["before", "after", "min"];
            let hint = did_you_mean(other, known);
            let text = format!("unknown `{other}(..)`{hint}; {}", expected_one_of(known));
            Err(syn::Error::new_spanned(&word, text))
        }
    })
}
