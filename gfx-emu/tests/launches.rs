//! What a launch does beyond arithmetic: workgroups that wait for each other, faults and where
//! they are, atomics, scratch, calls, lanes that talk to each other, the order of workgroups.

mod gpu;

use gfx_emu::dispatch::{Dispatch, FaultKind};
use gpu::{Args, Gpu};
use half::f16;

const OBJECTS: [&str; 3] =
    ["launches.gfx90a.O2.co", "launches.gfx90a.O0.co", "launches.gfx906.O2.co"];

fn on_each(test: impl Fn(&Gpu)) {
    for object in OBJECTS {
        eprintln!("{object}");
        test(&Gpu::with_object(object));
    }
}

fn random(n: usize, seed: u64) -> Vec<u64> {
    let mut x = seed;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        })
        .collect()
}

#[test]
fn cooperative_workgroups_meet() {
    on_each(|gpu| {
        let (counter, seen) = (gpu.upload(&[0u32]), gpu.upload(&[0u32; 8 * 128]));
        let cooperative = Dispatch { cooperative: true, ..Dispatch::default() };
        let args = Args::new().ptr(counter).ptr(seen);
        gpu.launch_as(cooperative, "all_meet", [8, 1, 1], [128, 1, 1], 0, args).unwrap();
        assert_eq!(gpu.download::<u32>(seen, 8 * 128), [8; 8 * 128]);
    });
}

#[test]
fn a_spinning_workgroup_lets_the_others_start() {
    on_each(|gpu| {
        // Not said to be cooperative.
        let (counter, seen) = (gpu.upload(&[0u32]), gpu.upload(&[0u32; 4 * 64]));
        gpu.launch("all_meet", [4, 1, 1], [64, 1, 1], 0, Args::new().ptr(counter).ptr(seen));
        assert_eq!(gpu.download::<u32>(seen, 4 * 64), [4; 4 * 64]);
        // Without atomics the workgroups are spread over threads.
        let (flag, out) = (gpu.upload(&[0u32]), gpu.upload(&[0u32; 2]));
        let args = Args::new().ptr(flag).ptr(out);
        gpu.launch("first_waits_for_last", [9, 1, 1], [64, 1, 1], 0, args);
        assert_eq!(gpu.download::<u32>(out, 2), [8, 7]);
    });
}

#[test]
fn an_illegal_address_is_reported_with_its_place() {
    on_each(|gpu| {
        let args = Args::new().ptr(0x1234_5678_9abc).i32(37);
        let fault = gpu.try_launch("store_to", [1, 1, 1], [64, 1, 1], 0, args).unwrap_err();
        let FaultKind::IllegalAddress { address, bytes, write } = fault.kind else {
            panic!("{fault}");
        };
        assert_eq!((address, bytes, write), (0x1234_5678_9abc, 4, true));
        assert_eq!(fault.site.lane, Some(37));
        assert_eq!(fault.site.workgroup, Some([0, 0, 0]));
        assert!(fault.site.pc.is_some());
        let text = fault.to_string();
        assert!(text.starts_with("kernel store_to: illegal address 0x123456789abc"), "{text}");
        assert!(!text.contains('\n'));
        // One past the end, with what the allocation is padded to.
        let cell = gpu.upload(&[0u8; 256]);
        let args = Args::new().ptr(cell + 256 - 2).i32(0);
        let fault = gpu.try_launch("store_to", [1, 1, 1], [64, 1, 1], 0, args).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::IllegalAddress { .. }), "{fault}");
        // Unaligned, but inside.
        gpu.launch("store_to", [1, 1, 1], [64, 1, 1], 0, Args::new().ptr(cell + 3).i32(0));
        assert_eq!(gpu.download::<u8>(cell, 8), [0, 0, 0, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn lds_has_the_size_that_the_launch_asks_for() {
    on_each(|gpu| {
        let out = gpu.upload(&[0i32; 64]);
        let launch = |at: i32, lds: u32| {
            let args = Args::new().ptr(out).i32(at);
            gpu.try_launch("lds_at", [1, 1, 1], [64, 1, 1], lds, args)
        };
        launch(64, 128 * 4).unwrap();
        assert_eq!(gpu.download::<i32>(out, 64), (0..64).collect::<Vec<i32>>());
        let fault = launch(65, 128 * 4).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::LdsOutOfRange { size: 512, .. }), "{fault}");
        assert_eq!(fault.site.lane, Some(63));
        let fault = launch(0, 64 * 1024 + 1).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Launch(_)), "{fault}");
    });
}

#[test]
fn traps_and_impossible_launches_are_refused() {
    on_each(|gpu| {
        gpu.launch("stop", [1, 1, 1], [1, 1, 1], 0, Args::new().i32(0));
        let trap = gpu.try_launch("stop", [1, 1, 1], [1, 1, 1], 0, Args::new().i32(1));
        assert_eq!(trap.unwrap_err().kind, FaultKind::Trap { id: 2 });
        for block in [[1025, 1, 1], [32, 32, 2], [0, 1, 1]] {
            let fault = gpu.try_launch("stop", [1, 1, 1], block, 0, Args::new().i32(0));
            assert!(matches!(fault.unwrap_err().kind, FaultKind::Launch(_)), "{block:?}");
        }
    });
}

#[test]
fn atomics32() {
    on_each(|gpu| {
        let n = 500;
        let x: Vec<u32> = random(n, 11).iter().map(|&v| v as u32).collect();
        let start = [100u32, 100, !0, 0, 0x7fff_ffff, 0x8000_0000, !0, 0, 0, 0, 0, 0, 0];
        let (a, dx) = (gpu.upload(&start), gpu.upload(&x));
        let args = Args::new().ptr(a).ptr(dx).i32(n as i32);
        gpu.launch("atomics32", [4, 1, 1], [128, 1, 1], 0, args);
        let mut e = start;
        let mut sum = 0f32;
        for &v in &x {
            e[0] = e[0].wrapping_add(v);
            e[1] = e[1].wrapping_sub(v);
            e[2] = e[2].min(v);
            e[3] = e[3].max(v);
            e[4] = (e[4] as i32).min(v as i32) as u32;
            e[5] = (e[5] as i32).max(v as i32) as u32;
            e[6] &= v | 0xff;
            e[7] |= v & 0xff00;
            e[8] ^= v;
            e[9] = if e[9] >= 5 { 0 } else { e[9] + 1 };
            e[10] = if e[10] == 0 || e[10] > 7 { 7 } else { e[10] - 1 };
            // Workgroups run in order, waves and lanes too.
            e[11] = v;
            sum += (v & 15) as f32;
        }
        e[12] = sum.to_bits();
        assert_eq!(gpu.download::<u32>(a, 13), e);
    });
}

#[test]
fn atomics64() {
    on_each(|gpu| {
        let n = 300;
        let x = random(n, 12);
        let start = [1u64, !0, 0, !0, 0, 0, 0, 0, 5];
        let (a, dx) = (gpu.upload(&start), gpu.upload(&x));
        let args = Args::new().ptr(a).ptr(dx).i32(n as i32);
        gpu.launch("atomics64", [3, 1, 1], [128, 1, 1], 0, args);
        let mut e = start;
        let mut sum = 0f64;
        for &v in &x {
            e[0] = e[0].wrapping_add(v);
            e[1] = e[1].min(v);
            e[2] = e[2].max(v);
            e[3] &= v | 0xff;
            e[4] |= v & 0xff00;
            e[5] ^= v;
            e[6] = v;
            sum += (v & 15) as f64;
        }
        e[7] = sum.to_bits();
        let result = gpu.download::<u64>(a, 9);
        assert_eq!(result[..8], e[..8]);
        // The order of the compare-and-swaps is the loop's: a lane that lost comes again.
        assert_ne!(result[8], 5);
    });
}

#[test]
fn recursion_and_private_arrays() {
    on_each(|gpu| {
        let out = gpu.upload(&[0i32; 64]);
        let deep = Dispatch { private_segment_bytes: 16384, ..Dispatch::default() };
        let args = Args::new().ptr(out);
        gpu.launch_as(deep, "recursion", [1, 1, 1], [64, 1, 1], 0, args).unwrap();
        fn ackermann(m: i32, n: i32) -> i32 {
            match (m, n) {
                (0, n) => n + 1,
                (m, 0) => ackermann(m - 1, 1),
                (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
            }
        }
        let expected: Vec<i32> = (0..64).map(|t| ackermann(t & 1, t % 6)).collect();
        assert_eq!(gpu.download::<i32>(out, 64), expected);

        let n = 200;
        let input: Vec<i32> = random(n, 13).iter().map(|&v| v as i32 >> 8).collect();
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&[0i32; 128]));
        let args = Args::new().ptr(di).ptr(d_out).i32(n as i32);
        gpu.launch("private_array", [2, 1, 1], [64, 1, 1], 0, args);
        let expected: Vec<i32> = (0..128)
            .map(|t| {
                let mut a: Vec<i32> = (0..24).map(|i| input[(t * 7 + i * 5) % n]).collect();
                a.sort_unstable();
                a.iter().fold(0i32, |h, &x| h.wrapping_mul(31).wrapping_add(x))
            })
            .collect();
        assert_eq!(gpu.download::<i32>(d_out, 128), expected);
    });
}

#[test]
fn registers_indexed_at_run_time() {
    on_each(|gpu| {
        let input: Vec<f32> = (0..64 * 8).map(|i| i as f32).collect();
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&[0f32; 64]));
        for k in 0..8 {
            let args = Args::new().ptr(di).ptr(d_out).i32(k as i32);
            gpu.launch("indexed_registers", [1, 1, 1], [64, 1, 1], 0, args);
            let expected: Vec<f32> = (0..64)
                .map(|t| {
                    let at = |i: usize| if i == k { 100.0 } else { input[t * 8 + i] };
                    at((k + t) & 7) + at((k + 1) & 7)
                })
                .collect();
            assert_eq!(gpu.download::<f32>(d_out, 64), expected);
        }
    });
}

#[test]
fn bytes() {
    on_each(|gpu| {
        let n = 512usize;
        let a: Vec<u8> = random(n, 14).iter().map(|&v| v as u8).collect();
        let b: Vec<u8> = random(n, 15).iter().map(|&v| v as u8).collect();
        let (da, db) = (gpu.upload(&a), gpu.upload(&b));
        let (dc, dd) = (gpu.upload(&vec![0u8; 2 * n]), gpu.upload(&vec![0u8; n]));
        let args = Args::new().ptr(da).ptr(db).ptr(dc).ptr(dd).i32(n as i32);
        gpu.launch("bytes", [2, 1, 1], [64, 1, 1], 0, args);
        let (mut c, mut d) = (Vec::new(), Vec::new());
        for i in (0..n).step_by(4) {
            let x = [0, 1, 2, 3].map(|k| i32::from(a[i + k]));
            let y = [0, 1, 2, 3].map(|k| i32::from(b[i + k] as i8));
            c.extend([x[0] * y[0], x[1] + y[1], x[2] - y[2], x[3] << (y[3] & 3)]);
            d.extend([x[0].max(x[1]), x[1] + x[2], x[2] ^ x[3], x[3] >> 1].map(|v| v as u8));
        }
        let c: Vec<u8> = c.iter().flat_map(|&v| (v as i16).to_le_bytes()).collect();
        assert_eq!(gpu.download::<u8>(dc, 2 * n), c);
        assert_eq!(gpu.download::<u8>(dd, n), d);
    });
}

#[test]
fn halves() {
    on_each(|gpu| {
        let n = 256usize;
        let make = |seed| -> Vec<f16> {
            random(n, seed)
                .iter()
                .map(|&v| f16::from_f32((v % 4001) as f32 / 500.0 - 4.0))
                .collect()
        };
        let (a, b) = (make(16), make(17));
        let raw = |values: &[f16]| -> Vec<u8> {
            values.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect()
        };
        let (da, db) = (gpu.upload(&raw(&a)), gpu.upload(&raw(&b)));
        let dc = gpu.upload(&vec![0u8; 2 * n]);
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(n as i32);
        gpu.launch("halves", [2, 1, 1], [128, 1, 1], 0, args);
        let result = gpu.download::<u8>(dc, 2 * n);
        for i in 0..n {
            let ours = u16::from_le_bytes([result[2 * i], result[2 * i + 1]]);
            let (x, y) = (a[i].to_f64(), b[i].to_f64());
            // The compiler may fuse the two operations.
            let fused = f16::from_f64(x * y + x).to_bits();
            let apart = f16::from_f64(f16::from_f64(x * y).to_f64() + x).to_bits();
            assert!(ours == fused || ours == apart, "{x} {y}: {ours:#x} {fused:#x} {apart:#x}");
        }
    });
}

#[test]
fn doubles_and_large_arguments() {
    on_each(|gpu| {
        let n = 400usize;
        let mut a: Vec<f64> = random(n, 18)
            .iter()
            .map(|&v| (v as i64 as f64) * 10f64.powi((v % 40) as i32 - 30))
            .collect();
        let b: Vec<f64> = random(n, 19).iter().map(|&v| v as i64 as f64 / 1e15).collect();
        a[..4].copy_from_slice(&[1e22, -1e300, 0.5, 3.0]);
        let (da, db) = (gpu.upload(&a), gpu.upload(&b));
        let dc = gpu.upload(&vec![0f64; 3 * n]);
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(n as i32);
        gpu.launch("doubles", [7, 1, 1], [64, 1, 1], 0, args);
        for (i, c) in gpu.download::<f64>(dc, 3 * n).chunks_exact(3).enumerate() {
            assert_eq!(c[0].to_bits(), (a[i] / b[i]).to_bits(), "{} / {}", a[i], b[i]);
            assert_eq!(c[1].to_bits(), a[i].abs().sqrt().to_bits(), "sqrt {}", a[i]);
            let expected = a[i].sin();
            let error = (c[2] - expected).abs();
            // Two units in the last place.
            assert!(error <= 2.0 * f64::EPSILON * expected.abs().max(1e-290), "sin {:e}", a[i]);
        }
    });
}

#[test]
fn divisions() {
    on_each(|gpu| {
        let n = 1024usize;
        let make = |seed| -> Vec<f32> {
            random(n, seed).iter().map(|&v| f32::from_bits(v as u32)).collect()
        };
        let (mut a, mut b) = (make(20), make(21));
        let edges = [0.0, -0.0, 1.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NAN];
        for i in 0..64 {
            (a[i], b[i]) = (edges[i / 8], edges[i % 8]);
        }
        let (da, db) = (gpu.upload(&a), gpu.upload(&b));
        let dc = gpu.upload(&vec![0f32; 2 * n]);
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(n as i32);
        gpu.launch("divisions", [8, 1, 1], [128, 1, 1], 0, args);
        for (i, c) in gpu.download::<f32>(dc, 2 * n).chunks_exact(2).enumerate() {
            let quotient = a[i] / b[i];
            let same = c[0].to_bits() == quotient.to_bits() || c[0].is_nan() && quotient.is_nan();
            assert!(same, "{:e} / {:e} = {:e}, expected {quotient:e}", a[i], b[i], c[0]);
            let expected = f64::from(a[i]).sin();
            let error = (f64::from(c[1]) - expected).abs();
            assert!(expected.is_nan() || error <= 3e-7 * expected.abs().max(1e-38), "{:e}", a[i]);
        }
    });
}

#[test]
fn a_wave_sums_by_dpp() {
    on_each(|gpu| {
        let input: Vec<i32> = random(64, 22).iter().map(|&v| v as i32 >> 12).collect();
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&[0i32; 64]));
        gpu.launch("wave_sum", [1, 1, 1], [64, 1, 1], 0, Args::new().ptr(di).ptr(d_out));
        assert_eq!(gpu.download::<i32>(d_out, 64)[63], input.iter().sum::<i32>());
    });
}

#[test]
fn work_items_of_three_dimensions() {
    on_each(|gpu| {
        let (groups, block) = ([3, 2, 4], [5, 7, 3]);
        let [w, h, d] = [0, 1, 2].map(|axis| (groups[axis] * block[axis]) as usize);
        let out = gpu.upload(&vec![!0u32; w * h * d]);
        let stats = gpu.launch("work_items", groups, block, 0, Args::new().ptr(out));
        assert_eq!((stats.workgroups, stats.waves), (24, 48));
        let expected: Vec<u32> = (0..w * h * d)
            .map(|i| {
                let (x, y, z) = (i % w, i / w % h, i / (w * h));
                (x | y << 8 | z << 16 | (z / 3) << 24) as u32
            })
            .collect();
        assert_eq!(gpu.download::<u32>(out, w * h * d), expected);
    });
}

#[test]
fn long_loops_finish() {
    on_each(|gpu| {
        let (groups, block, rounds) = ([5, 1, 1], [64, 1, 1], 3000);
        let out = gpu.upload(&[0u32; 320]);
        gpu.launch("hash", groups, block, 0, Args::new().ptr(out).i32(rounds));
        let expected: Vec<u32> = (0..320u32)
            .map(|i| {
                (0..rounds as u32)
                    .fold(i, |v, r| (v ^ (v >> 15)).wrapping_mul(0x2c1b_3c6d).wrapping_add(r))
            })
            .collect();
        assert_eq!(gpu.download::<u32>(out, 320), expected);
    });
}

/// The results of several kernels as text; for the test below, which runs it by name.
#[test]
fn digest_of_results() {
    let gpu = Gpu::with_object("launches.gfx90a.O2.co");
    let hashes = gpu.upload(&vec![0u32; 64 * 200]);
    gpu.launch("hash", [200, 1, 1], [64, 1, 1], 0, Args::new().ptr(hashes).i32(50));
    let x: Vec<u32> = random(4000, 23).iter().map(|&v| v as u32).collect();
    let (a, dx) = (gpu.upload(&[0u32; 13]), gpu.upload(&x));
    let args = Args::new().ptr(a).ptr(dx).i32(4000);
    gpu.launch("atomics32", [40, 1, 1], [128, 1, 1], 0, args);
    let input: Vec<i32> = (0..500).collect();
    let (di, sorted) = (gpu.upload(&input), gpu.upload(&[0i32; 6400]));
    let args = Args::new().ptr(di).ptr(sorted).i32(500);
    gpu.launch("private_array", [100, 1, 1], [64, 1, 1], 0, args);
    let all =
        [gpu.download::<u32>(hashes, 64 * 200), gpu.download(a, 13), gpu.download(sorted, 6400)];
    let digest = all
        .concat()
        .iter()
        .fold(0u64, |h, &x| (h ^ u64::from(x)).wrapping_mul(0x100_0000_01b3).rotate_left(9));
    assert_ne!(digest, 0);
    eprintln!("digest {digest:#018x}");
}

#[test]
fn equal_bytes_whatever_the_number_of_threads() {
    let digests: Vec<String> = ["1", "2", "3", "16"]
        .iter()
        .map(|threads| {
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "digest_of_results", "--nocapture"])
                .env("HIP_EMU_THREADS", threads)
                .output()
                .unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stderr).unwrap();
            let line = text.lines().find(|line| line.starts_with("digest "));
            line.unwrap_or_else(|| panic!("no digest: {text}")).to_owned()
        })
        .collect();
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "{digests:?}");
}
