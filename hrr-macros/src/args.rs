//! Reads the attributes of a declaration by the table of words.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, ExprPath, LitStr, Meta, Token};

use crate::attr::{Arg, Choice, EffectRow, Need, Place, ROWS, Row, Shape, form_of, words_of};
use crate::errors::{Errors, did_you_mean, expected_one_of};
use crate::length::parse_length;
use crate::model::{Len, Name};

/// The names that an attribute may use: the parameters of a function or the fields of a struct.
pub(crate) struct Names {
    /// The function or struct.
    pub(crate) owner: String,
    pub(crate) place: Place,
    pub(crate) idents: Vec<Ident>,
}

impl Names {
    fn resolve(&self, ident: Ident) -> syn::Result<Name> {
        let wanted = ident.unraw();
        match self.idents.iter().position(|known| known.unraw() == wanted) {
            Some(index) => Ok(Name { index, ident }),
            None => {
                let known: Vec<String> =
                    self.idents.iter().map(|ident| ident.unraw().to_string()).collect();
                let hint = did_you_mean(&wanted.to_string(), known.iter().map(String::as_str));
                let (noun, owner) = (self.place.noun(), &self.owner);
                let text = format!("no {noun} named `{wanted}` in `{owner}`{hint}");
                Err(syn::Error::new_spanned(ident, text))
            }
        }
    }
}

/// The value of an argument.
pub(crate) enum Value {
    Flag,
    Length(Len),
    Name(Name),
    Path(ExprPath),
    Text(LitStr),
    /// The variant of the descriptor.
    Choice(&'static str),
    Lengths(Vec<(&'static str, Len)>),
    Effect(&'static EffectRow, Vec<Name>),
}

/// An argument as it was written.
pub(crate) struct Given {
    pub(crate) key: &'static str,
    pub(crate) value: Value,
    /// The key's tokens, or the value's where there is no key.
    pub(crate) at: TokenStream,
}

/// One attribute, read by its row.
pub(crate) struct Parsed {
    pub(crate) row: &'static Row,
    /// The word as it stands, for its span.
    pub(crate) word: Ident,
    pub(crate) values: Vec<Given>,
    /// Its arguments are wrong, which was told: the word counts as written, its values do not.
    pub(crate) broken: bool,
}

impl Parsed {
    /// The value of an argument, if it was written.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let index = self.values.iter().position(|given| given.key == key)?;
        Some(self.values.swap_remove(index).value)
    }
}

/// Words that stand where ours stand and are not ours.
fn is_foreign(place: Place, word: &str) -> bool {
    match place {
        Place::Function => matches!(
            word,
            "doc" | "cfg" | "allow" | "expect" | "warn" | "deny" | "deprecated" | "must_use"
        ),
        Place::Parameter => false,
        // The compiler and other derives answer for the words of theirs.
        Place::Field => ROWS.iter().all(|row| row.name != word),
    }
}

/// Reads the attributes of one function, parameter or field; the rest is handed back.
pub(crate) fn parse_attributes(
    attributes: Vec<Attribute>,
    place: Place,
    names: &Names,
    errors: &mut Errors,
) -> (Vec<Parsed>, Vec<Attribute>) {
    let mut parsed: Vec<Parsed> = Vec::new();
    let mut foreign = Vec::new();
    for attribute in attributes {
        let Some(word) = attribute.path().get_ident().cloned() else {
            match place {
                Place::Field => foreign.push(attribute),
                Place::Function | Place::Parameter => {
                    errors.at(attribute.path(), expected_word(place));
                }
            }
            continue;
        };
        if is_foreign(place, &word.to_string()) {
            foreign.push(attribute);
            continue;
        }
        let Some(row) = find_row(&word, place, errors) else { continue };
        if !row.repeats() && parsed.iter().any(|earlier| earlier.row.word == row.word) {
            errors.at(&word, format!("`#[{}]` stands here twice", row.name));
            continue;
        }
        let before = errors.count();
        let values = match &attribute.meta {
            Meta::Path(_) => Vec::new(),
            Meta::List(list) => {
                let mut values = Vec::new();
                let result = list.parse_args_with(|input: ParseStream<'_>| {
                    values = parse_args(input, row.name, row.args, Some(names), errors)?;
                    Ok(())
                });
                errors.keep(result);
                values
            }
            Meta::NameValue(pair) => {
                errors.at(pair.eq_token, format!("expected `#[{}(..)]`", row.name));
                continue;
            }
        };
        if errors.count() == before {
            check_needs(&word, row.name, row.args, &values, errors);
        }
        parsed.push(Parsed { row, word, values, broken: errors.count() > before });
    }
    (parsed, foreign)
}

fn find_row(word: &Ident, place: Place, errors: &mut Errors) -> Option<&'static Row> {
    let text = word.to_string();
    if text == "cfg" || text == "cfg_attr" {
        errors.at(word, format!("`{text}` cannot stand on a {}", place.noun()));
        return None;
    }
    let Some(row) = ROWS.iter().find(|row| row.name == text) else {
        let here = ROWS.iter().filter(|row| row.places.contains(&place)).map(|row| row.name);
        let hint = did_you_mean(&text, here);
        errors.at(word, format!("unknown word `{text}`{hint}; {}", expected_word(place)));
        return None;
    };
    if !row.places.contains(&place) {
        let places: Vec<&str> = row.places.iter().map(|place| place.noun()).collect();
        let text =
            format!("`#[{text}]` stands on a {}, not on a {}", places.join(" or a "), place.noun());
        errors.at(word, text);
        return None;
    }
    Some(row)
}

fn expected_word(place: Place) -> String {
    expected_one_of(ROWS.iter().filter(|row| row.places.contains(&place)).map(|row| row.name))
}

/// Reads `key = value, ..` by a list of arguments. `names` is absent where no value can be a name.
pub(crate) fn parse_args(
    input: ParseStream<'_>,
    word: &str,
    args: &'static [Arg],
    names: Option<&Names>,
    errors: &mut Errors,
) -> syn::Result<Vec<Given>> {
    let mut values = Vec::new();
    while !input.is_empty() {
        let result = parse_arg(input, word, args, names, &values).and_then(|given| {
            values.push(given);
            if input.is_empty() || input.peek(Token![,]) {
                Ok(())
            } else {
                Err(input.error("expected `,`"))
            }
        });
        if errors.keep(result).is_none() {
            while !input.is_empty() && !input.peek(Token![,]) {
                input.parse::<TokenTree>()?;
            }
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(values)
}

fn parse_arg(
    input: ParseStream<'_>,
    word: &str,
    args: &'static [Arg],
    names: Option<&Names>,
    have: &[Given],
) -> syn::Result<Given> {
    if let [Arg { key, shape: Shape::Symbol, .. }] = args {
        let symbol: LitStr = input.parse()?;
        let text = symbol.value();
        if text.is_empty() || text.contains(|c: char| c == '\0' || c.is_whitespace()) {
            return Err(syn::Error::new_spanned(symbol, "expected the name of a symbol"));
        }
        if !have.is_empty() {
            let text = format!("one symbol for each `#[{word}]`; write it once more");
            return Err(syn::Error::new_spanned(symbol, text));
        }
        let at = symbol.to_token_stream();
        return Ok(Given { key, value: Value::Text(symbol), at });
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error(expected_key(word, args)));
    }
    let key = input.call(Ident::parse_any)?;
    let text = key.to_string();
    let Some(arg) = args.iter().find(|arg| arg.key == text) else {
        let hint = did_you_mean(&text, args.iter().map(|arg| arg.key));
        let text = format!("unknown `{text}`{hint}; {}", expected_key(word, args));
        return Err(syn::Error::new_spanned(key, text));
    };
    // A call may have the same effect on two parameters.
    let repeats = matches!(arg.shape, Shape::Effect(_));
    if !repeats && have.iter().any(|earlier| earlier.key == arg.key) {
        return Err(syn::Error::new_spanned(key, format!("`{text}` stands here twice")));
    }
    let value = parse_value(input, &key, arg, names)?;
    Ok(Given { key: arg.key, value, at: key.to_token_stream() })
}

fn expected_key(word: &str, args: &[Arg]) -> String {
    match args {
        [] => format!("`#[{word}]` takes no arguments"),
        args => expected_one_of(args.iter().map(|arg| arg.key)),
    }
}

fn parse_value(
    input: ParseStream<'_>,
    key: &Ident,
    arg: &'static Arg,
    names: Option<&Names>,
) -> syn::Result<Value> {
    let shape = arg.shape;
    let flag = match shape {
        Shape::Flag => true,
        Shape::Effect(row) => row.slots.is_empty(),
        _ => false,
    };
    if flag {
        if input.peek(Token![=]) {
            return Err(input.error(format!("`{key}` takes no value")));
        }
        return Ok(match shape {
            Shape::Effect(row) => Value::Effect(row, Vec::new()),
            _ => Value::Flag,
        });
    }
    if let Shape::Lengths(keys) = shape {
        return parse_lengths(input, key, arg, keys, names);
    }
    if !input.peek(Token![=]) {
        return Err(syn::Error::new_spanned(key, format!("expected {}", form_of(arg))));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(key, format!("expected {}", form_of(arg))));
    }
    match shape {
        Shape::Length => {
            bare_or_string(input, |input| parse_length(input, names)).map(Value::Length)
        }
        Shape::Name => bare_or_string(input, |input| parse_name(input, names)).map(Value::Name),
        Shape::Path => bare_or_string(input, |input| input.parse()).map(Value::Path),
        Shape::Text => parse_text(input, key).map(Value::Text),
        Shape::Choice(choices) => {
            bare_or_string(input, |input| parse_choice(input, choices)).map(Value::Choice)
        }
        Shape::ChoiceOrPath(choices) => {
            bare_or_string(input, |input| parse_choice_or_path(input, choices))
        }
        Shape::Effect(row) => parse_effect(input, key, row, names),
        // Handled above: they have no `=`.
        Shape::Flag | Shape::Symbol | Shape::Lengths(_) => Ok(Value::Flag),
    }
}

/// A value may stand bare, which gives the better error, or as a string.
fn bare_or_string<T>(
    input: ParseStream<'_>,
    parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if input.peek(LitStr) {
        let literal: LitStr = input.parse()?;
        return literal.parse_with(parser);
    }
    parser(input)
}

fn parse_text(input: ParseStream<'_>, key: &Ident) -> syn::Result<LitStr> {
    let text: LitStr = input.parse()?;
    if text.value().trim().is_empty() {
        return Err(syn::Error::new_spanned(text, format!("the {key} is empty")));
    }
    Ok(text)
}

fn parse_choice(input: ParseStream<'_>, choices: &'static [Choice]) -> syn::Result<&'static str> {
    let expected = expected_one_of(words_of(choices));
    if !input.peek(Ident::peek_any) {
        return Err(input.error(expected));
    }
    let word = input.call(Ident::parse_any)?;
    choices
        .iter()
        .find(|(known, _)| word == *known)
        .map(|(_, variant)| *variant)
        .ok_or_else(|| syn::Error::new_spanned(&word, expected))
}

fn parse_choice_or_path(input: ParseStream<'_>, choices: &'static [Choice]) -> syn::Result<Value> {
    let path: ExprPath = input.parse()?;
    let Some(word) = path.path.get_ident() else { return Ok(Value::Path(path)) };
    match choices.iter().find(|(known, _)| word == *known) {
        Some((_, variant)) => Ok(Value::Choice(variant)),
        None => {
            let text = format!(
                "{}, or the path of a function, with `::`",
                expected_one_of(words_of(choices))
            );
            Err(syn::Error::new_spanned(path, text))
        }
    }
}

pub(crate) fn parse_name(input: ParseStream<'_>, names: Option<&Names>) -> syn::Result<Name> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected a name"));
    }
    resolve(input.call(Ident::parse_any)?, names)
}

fn resolve(ident: Ident, names: Option<&Names>) -> syn::Result<Name> {
    match names {
        Some(names) => names.resolve(ident),
        None => Err(syn::Error::new_spanned(ident, "no name can stand here")),
    }
}

fn parse_lengths(
    input: ParseStream<'_>,
    key: &Ident,
    arg: &'static Arg,
    keys: &'static [&'static str],
    names: Option<&Names>,
) -> syn::Result<Value> {
    let form = || syn::Error::new_spanned(key, format!("expected {}", form_of(arg)));
    if !input.peek(syn::token::Paren) {
        return Err(form());
    }
    let lengths = parenthesized(input, |content| {
        let mut lengths: Vec<(&'static str, Len)> = Vec::new();
        while !content.is_empty() {
            let ident = content.call(Ident::parse_any)?;
            let Some(word) = keys.iter().copied().find(|known| ident == *known) else {
                let text = expected_one_of(keys.iter().copied());
                return Err(syn::Error::new_spanned(ident, text));
            };
            if lengths.iter().any(|(have, _)| *have == word) {
                let text = format!("`{word}` stands here twice");
                return Err(syn::Error::new_spanned(ident, text));
            }
            content.parse::<Token![=]>()?;
            lengths.push((word, bare_or_string(content, |input| parse_length(input, names))?));
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(lengths)
    })?;
    if lengths.len() < keys.len() {
        return Err(form());
    }
    Ok(Value::Lengths(lengths))
}

/// Reads what stands in parentheses, to their end. What is left after an error is dropped, so that
/// one mistake is one error.
pub(crate) fn parenthesized<T>(
    input: ParseStream<'_>,
    parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    syn::parenthesized!(content in input);
    let result = parser(&content).and_then(|value| {
        if content.is_empty() { Ok(value) } else { Err(content.error("expected `)`")) }
    });
    content.parse::<TokenStream>()?;
    result
}

fn parse_effect(
    input: ParseStream<'_>,
    key: &Ident,
    row: &'static EffectRow,
    names: Option<&Names>,
) -> syn::Result<Value> {
    let mut given = Vec::new();
    if input.peek(syn::token::Paren) {
        parenthesized(input, |content| {
            while !content.is_empty() {
                given.push(bare_or_string(content, |input| parse_name(input, names))?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    } else {
        given.push(bare_or_string(input, |input| parse_name(input, names))?);
    }
    let least = row.slots.iter().filter(|slot| !slot.optional).count();
    if given.len() < least || given.len() > row.slots.len() {
        let fields: Vec<&str> = row.slots.iter().map(|slot| slot.field).collect();
        let text = match fields.as_slice() {
            [field] => format!("expected `{key} = {field}`"),
            fields if least == 1 => {
                format!("expected `{key} = {}` or `{key} = ({})`", fields[0], fields.join(", "))
            }
            fields => format!("expected `{key} = ({})`", fields.join(", ")),
        };
        return Err(syn::Error::new_spanned(key, text));
    }
    Ok(Value::Effect(row, given))
}

/// What is missing, and what excludes each other.
pub(crate) fn check_needs(
    word: &Ident,
    name: &str,
    args: &'static [Arg],
    values: &[Given],
    errors: &mut Errors,
) {
    let has = |arg: &Arg| values.iter().any(|given| given.key == arg.key);
    let mut told: Vec<&str> = Vec::new();
    for arg in args {
        let (label, least) = match arg.need {
            Need::Optional => continue,
            Need::Required => {
                if !has(arg) {
                    errors.at(word, format!("`#[{name}]` needs {}", form_of(arg)));
                }
                continue;
            }
            Need::Beside(other) => {
                if has(arg) && values.iter().all(|given| given.key != other) {
                    errors.at(word, format!("`{}` needs `{other}` beside it", arg.key));
                }
                continue;
            }
            Need::OneOf(label) => (label, 1),
            Need::AtMostOne(label) => (label, 0),
        };
        if told.contains(&label) {
            continue;
        }
        told.push(label);
        let group: Vec<&Arg> = args.iter().filter(|other| other.need == arg.need).collect();
        let given: Vec<&Given> =
            values.iter().filter(|given| group.iter().any(|arg| arg.key == given.key)).collect();
        if given.len() < least {
            let forms: Vec<String> = group.iter().map(|arg| form_of(arg)).collect();
            errors.at(word, format!("`#[{name}]` needs {label}: {}", forms.join(" or ")));
        }
        if let [first, second, ..] = given.as_slice() {
            let text = format!("`{}` excludes `{}`: both give {label}", second.key, first.key);
            errors.at(&second.at, text);
        }
    }
}
