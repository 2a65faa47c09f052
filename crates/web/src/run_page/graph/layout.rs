//! Where the boxes of a graph are drawn: in layers from left to right, with few crossings and short lines.
//!
//! The usual steps of a layered layout: a line that skips layers gets a place in each of them, the places of a layer are ordered by
//! the mean position of their neighbours, and then moved as close to the mean height of their neighbours as their order allows.

pub(super) const BOX_WIDTH: i64 = 212;
pub(super) const BOX_HEIGHT: i64 = 62;
const GAP_ACROSS: i64 = 96;
const GAP_DOWN: i64 = 18;
const MARGIN: i64 = 10;
/// The height that a line takes where it passes a layer.
const LINE_HEIGHT: i64 = 14;
/// How often the order and the heights are improved.
const ROUNDS: usize = 8;

/// The places of the boxes, and the ways of the lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The upper left corner of each box.
    pub(super) boxes: Vec<(i64, i64)>,
    /// The points that each line goes through, from the right side of a box to the left side of another.
    pub(super) lines: Vec<Vec<(i64, i64)>>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// A box, or the place where a line passes a layer.
#[derive(Debug)]
struct Cell {
    layer: usize,
    height: i64,
    left: Vec<usize>,
    right: Vec<usize>,
}

/// Places boxes in their layers. A line goes from a box to one in a later layer.
pub(super) fn place(layers: &[usize], lines: &[(usize, usize)]) -> Layout {
    let mut cells: Vec<Cell> = layers.iter().map(|layer| cell(*layer, BOX_HEIGHT)).collect();
    let ways: Vec<Vec<usize>> = lines.iter().map(|(from, to)| add_line(&mut cells, *from, *to)).collect();
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)];
    for (index, cell) in cells.iter().enumerate() {
        if let Some(column) = columns.get_mut(cell.layer) {
            column.push(index);
        }
    }
    order(&cells, &mut columns);
    let middles = heights(&cells, &columns);
    let middle = |index: usize| middles.get(index).copied().unwrap_or(0);
    let left = |index: usize| MARGIN + size(cells.get(index).map_or(0, |cell| cell.layer)) * (BOX_WIDTH + GAP_ACROSS);
    let boxes: Vec<(i64, i64)> = (0..layers.len()).map(|index| (left(index), middle(index) - BOX_HEIGHT / 2)).collect();
    let way = |way: &Vec<usize>| {
        let last = way.len().saturating_sub(1);
        let mut points = Vec::new();
        for (at, index) in way.iter().enumerate() {
            let (x, y) = (left(*index), middle(*index));
            points.extend((at > 0).then_some((x, y)));
            points.extend((at < last).then_some((x + BOX_WIDTH, y)));
        }
        points
    };
    let lines = ways.iter().map(way).collect();
    let lowest = cells.iter().enumerate().map(|(index, cell)| middle(index) + cell.height / 2).max().unwrap_or(0);
    let width = boxes.iter().map(|(x, _)| x + BOX_WIDTH + MARGIN).max().unwrap_or(0);
    Layout { boxes, lines, width, height: lowest + MARGIN }
}

fn cell(layer: usize, height: i64) -> Cell {
    Cell { layer, height, left: Vec::new(), right: Vec::new() }
}

fn size(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(0)
}

/// Adds the places where a line passes layers. Returns all cells that it goes through.
fn add_line(cells: &mut Vec<Cell>, from: usize, to: usize) -> Vec<usize> {
    let layer = |cells: &Vec<Cell>, index: usize| cells.get(index).map_or(0, |cell| cell.layer);
    let (first, last) = (layer(cells, from), layer(cells, to));
    let mut way = vec![from];
    for passed in first + 1..last {
        cells.push(cell(passed, LINE_HEIGHT));
        way.push(cells.len() - 1);
    }
    way.push(to);
    for (one, next) in way.iter().zip(way.iter().skip(1)) {
        if let Some(cell) = cells.get_mut(*one) {
            cell.right.push(*next);
        }
        if let Some(cell) = cells.get_mut(*next) {
            cell.left.push(*one);
        }
    }
    way
}

/// The columns in the order in which they are improved: from left to right, back, and so on; each with the direction.
fn rounds(columns: usize) -> impl Iterator<Item = (usize, bool)> {
    let column =
        move |round: usize, at: usize| if round.is_multiple_of(2) { (at, true) } else { (columns - 1 - at, false) };
    (0..ROUNDS).flat_map(move |round| (0..columns).map(move |at| column(round, at)))
}

/// The values of the neighbours in the layer before, or after.
fn neighbours<T: Copy>(cells: &[Cell], index: usize, to_right: bool, values: &[T]) -> Vec<T> {
    let neighbours = cells.get(index).map(|cell| if to_right { &cell.left } else { &cell.right });
    neighbours.into_iter().flatten().filter_map(|other| values.get(*other).copied()).collect()
}

/// Orders each layer by the mean position of the neighbours in the layer before, then after, and so on.
fn order(cells: &[Cell], columns: &mut [Vec<usize>]) {
    let mut position = vec![0; cells.len()];
    let number = |position: &mut Vec<usize>, column: &[usize]| {
        for (at, index) in column.iter().enumerate() {
            if let Some(own) = position.get_mut(*index) {
                *own = at;
            }
        }
    };
    for column in columns.iter() {
        number(&mut position, column);
    }
    for (at, to_right) in rounds(columns.len()) {
        let Some(column) = columns.get_mut(at) else { continue };
        column.sort_by_cached_key(|index| {
            let own = position.get(*index).copied().unwrap_or(0);
            let found = neighbours(cells, *index, to_right, &position);
            // In thousandths, because positions are close to each other.
            let mean = found.iter().sum::<usize>() * 1_000 / found.len().max(1);
            (if found.is_empty() { own * 1_000 } else { mean }, own)
        });
        number(&mut position, column);
    }
}

fn heights(cells: &[Cell], columns: &[Vec<usize>]) -> Vec<i64> {
    let mut middles = vec![0; cells.len()];
    for column in columns {
        set_heights(cells, column, &mut middles, |_, at| at);
    }
    for (at, to_right) in rounds(columns.len()) {
        let Some(column) = columns.get(at) else { continue };
        let before = middles.clone();
        set_heights(cells, column, &mut middles, |index, _| {
            let found = neighbours(cells, index, to_right, &before);
            let own = before.get(index).copied().unwrap_or(0);
            if found.is_empty() { own } else { found.iter().sum::<i64>() / size(found.len()) }
        });
    }
    let top = cells.iter().zip(&middles).map(|(cell, middle)| middle - cell.height / 2).min().unwrap_or(0);
    middles.iter().map(|middle| middle - top + MARGIN).collect()
}

/// Moves the cells of a layer as close to the wished heights as their order and sizes allow: the nearest increasing sequence.
fn set_heights(cells: &[Cell], column: &[usize], middles: &mut [i64], wished: impl Fn(usize, i64) -> i64) {
    // The height at which each cell is if all touch each other.
    let mut packed = Vec::with_capacity(column.len());
    let mut end = 0;
    for index in column {
        let height = cells.get(*index).map_or(0, |cell| cell.height);
        packed.push(end + height / 2);
        end += height + GAP_DOWN;
    }
    // Neighbouring cells whose wishes contradict each other share their mean: sum and count.
    let mut groups: Vec<(i64, i64)> = Vec::new();
    for (index, at) in column.iter().zip(&packed) {
        groups.push((wished(*index, *at) - at, 1));
        while let [.., (before, count), (sum, own)] = groups.as_slice() {
            if before / count <= sum / own {
                break;
            }
            let joined = (before + sum, count + own);
            groups.truncate(groups.len() - 2);
            groups.push(joined);
        }
    }
    let shifts =
        groups.iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count, usize::try_from(*count).unwrap_or(0)));
    for ((index, at), shift) in column.iter().zip(&packed).zip(shifts) {
        if let Some(middle) = middles.get_mut(*index) {
            *middle = at + shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_is_drawn_on_one_line() {
        let layout = place(&[0, 1, 2], &[(0, 1), (1, 2)]);
        let heights: Vec<i64> = layout.boxes.iter().map(|(_, y)| *y).collect();
        assert_eq!(heights, [MARGIN; 3]);
        assert_eq!(layout.lines[0], [(222, 41), (318, 41)]);
    }

    #[test]
    fn a_line_that_skips_a_layer_does_not_cross_the_box_in_it() {
        let layout = place(&[0, 1, 2], &[(0, 1), (1, 2), (0, 2)]);
        let (_, top) = layout.boxes[1];
        let passes = layout.lines[2][1].1;
        assert!(passes < top || passes > top + BOX_HEIGHT, "{layout:?}");
    }

    #[test]
    fn lines_that_need_not_cross_do_not() {
        // The second layer is given in the wrong order.
        let layout = place(&[0, 0, 1, 1], &[(0, 3), (1, 2)]);
        assert!((layout.boxes[0].1 < layout.boxes[1].1) == (layout.boxes[3].1 < layout.boxes[2].1), "{layout:?}");
    }

    proptest! {
        #[test]
        fn boxes_never_overlap_and_stay_in_the_drawing(
            layers in prop::collection::vec(0_usize..6, 1..40),
            ends in prop::collection::vec((0_usize..40, 0_usize..40), 0..80),
        ) {
            let lines: Vec<(usize, usize)> = ends
                .into_iter()
                .filter(|(from, to)| layers.get(*from).zip(layers.get(*to)).is_some_and(|(from, to)| from < to))
                .collect();
            let layout = place(&layers, &lines);
            for (one, (x, y)) in layout.boxes.iter().enumerate() {
                prop_assert!(*x >= 0 && *y >= 0 && x + BOX_WIDTH <= layout.width && y + BOX_HEIGHT <= layout.height);
                for (other_x, other_y) in layout.boxes.iter().skip(one + 1) {
                    prop_assert!(x != other_x || (y - other_y).abs() >= BOX_HEIGHT, "{layout:?}");
                }
            }
        }
    }
}
