//! The flat list of an event's fields, sorted to the parameters that they belong to.
//!
//! Follows the table of [`crate::archive::event`]: depth-first, in the order of the declaration. A
//! field that belongs nowhere is passed over, so that a recorder may add fields; one that is missing
//! leaves its node empty, and the interpreter refuses the call if it needed it.

use std::collections::BTreeMap;

use crate::archive::event::{Body, Event, FIELD_SPECIAL, Field, Phase};
use crate::desc::{Direction, ParamDesc, PayloadDesc, Role, Shape};

/// What was recorded of one parameter or field of a struct.
#[derive(Default)]
pub(super) struct Node<'e> {
    /// Its own content.
    pub(super) field: Option<&'e Field>,
    /// What hangs below each element; below a struct by value it is element 0.
    pub(super) elements: BTreeMap<u32, Vec<Node<'e>>>,
    /// All fields below, unsorted: for roles whose lower levels are no struct, or known late.
    pub(super) below: Vec<&'e Field>,
}

/// What was recorded of a list of parameters or fields, one node each.
pub(super) type Nodes<'e> = Vec<Node<'e>>;

/// The nodes of an event, before and after the call.
pub(super) struct Tree<'e> {
    pub(super) before: Nodes<'e>,
    pub(super) after: Nodes<'e>,
}

impl<'e> Tree<'e> {
    pub(super) fn of(event: &'e Event, params: &[ParamDesc]) -> Tree<'e> {
        let nodes = |phase| {
            let fields: Vec<&Field> = event
                .fields
                .iter()
                .filter(|field| field.phase == phase && field.id < FIELD_SPECIAL)
                .collect();
            parse(params, &mut Cursor { fields: &fields, next: 0, phase }, 0, 0)
        };
        Tree { before: nodes(Phase::Before), after: nodes(Phase::After) }
    }
}

/// Sorts the fields below one value of a payload that is known late.
pub(super) fn below<'e>(payload: &PayloadDesc, fields: &[&'e Field]) -> Nodes<'e> {
    match (&payload.shape, fields.first()) {
        (Shape::Struct(members), Some(first)) => parse(
            members,
            &mut Cursor { fields, next: 0, phase: first.phase },
            usize::from(first.depth),
            first.element,
        ),
        (Shape::Struct(members), None) => members.iter().map(|_| Node::default()).collect(),
        (Shape::Scalar(_) | Shape::Handle(_), _) => Vec::new(),
    }
}

struct Cursor<'s, 'e> {
    fields: &'s [&'e Field],
    next: usize,
    phase: Phase,
}

impl<'s, 'e> Cursor<'s, 'e> {
    /// Whether a role's own content was not taken in this phase, while something below it was.
    fn only_below(&self, role: &Role) -> bool {
        self.phase == Phase::After
            && matches!(
                role,
                Role::Pointee { direction: Direction::In, .. }
                    | Role::Array { direction: Direction::In, .. }
            )
    }

    /// The next field of this level with this id, and what stands below it. `spread`: the role
    /// numbers several fields of its own by `element`; the others follow as if below.
    fn take(
        &mut self,
        id: usize,
        depth: usize,
        element: u32,
        spread: bool,
    ) -> Option<(&'e Field, &'s [&'e Field])> {
        let level = |f: &Field| usize::from(f.depth);
        let rest = &self.fields[self.next..];
        let at = rest
            .iter()
            .take_while(|f| level(f) >= depth)
            .take_while(|f| level(f) > depth || depth == 0 || spread || f.element <= element)
            .position(|f| {
                level(f) == depth
                    && usize::from(f.id) == id
                    && (depth == 0 || spread || f.element == element)
            })?;
        let below = &rest[at + 1..];
        let own = |f: &Field| spread && level(f) == depth && usize::from(f.id) == id;
        let count = below.iter().take_while(|f| level(f) > depth || own(f)).count();
        self.next += at + 1 + count;
        Some((rest[at], &below[..count]))
    }
}

fn parse<'e>(
    params: &[ParamDesc],
    cursor: &mut Cursor<'_, 'e>,
    depth: usize,
    element: u32,
) -> Nodes<'e> {
    let mut nodes = Vec::with_capacity(params.len());
    for (id, param) in params.iter().enumerate() {
        let mut node = Node::default();
        if let Role::Struct(payload) = &param.role {
            if let Shape::Struct(members) = &payload.shape {
                node.elements.insert(0, parse(members, cursor, depth + 1, element));
            }
        } else if cursor.only_below(&param.role) {
            // The call only reads the elements, but writes behind a pointer in them.
            node.elements = hanging(&param.role, cursor, depth + 1, element, None);
        } else if let Some((field, below)) = cursor.take(id, depth, element, spread(&param.role)) {
            node.field = Some(field);
            node.below = below.to_vec();
            let mut below = Cursor { fields: below, next: 0, phase: cursor.phase };
            node.elements = hanging(&param.role, &mut below, depth + 1, element, Some(field));
        }
        nodes.push(node);
    }
    nodes
}

/// Whether a role has several fields of its own, told apart by `element`.
fn spread(role: &Role) -> bool {
    matches!(role, Role::KernelArgs { .. } | Role::JitOptions { .. })
}

/// Sorts what hangs below the elements behind a pointer. A single element has no number of its own.
fn hanging<'e>(
    role: &Role,
    cursor: &mut Cursor<'_, 'e>,
    depth: usize,
    element: u32,
    field: Option<&Field>,
) -> BTreeMap<u32, Nodes<'e>> {
    let (Role::Pointee { payload, .. } | Role::Array { payload, .. }) = role else {
        return BTreeMap::new();
    };
    let Shape::Struct(members) = &payload.shape else { return BTreeMap::new() };
    let single = match (role, field.map(|field| &field.body)) {
        (Role::Pointee { .. }, _) => true,
        (_, Some(Body::Bytes(bytes))) => bytes.len() as u64 == u64::from(payload.bytes),
        (_, Some(Body::Blob { bytes, .. })) => *bytes == u64::from(payload.bytes),
        (_, Some(Body::Null | Body::Device | Body::Absent(_)) | None) => false,
    };
    if single {
        return [(0, parse(members, cursor, depth, element))].into();
    }
    let mut elements = BTreeMap::new();
    while let Some(field) = cursor.fields.get(cursor.next)
        && usize::from(field.depth) >= depth
    {
        let (before, element) = (cursor.next, field.element);
        let nodes = parse(members, cursor, depth, element);
        elements.entry(element).or_insert(nodes);
        if cursor.next == before {
            cursor.next += 1;
        }
    }
    elements
}
