//! Whole kernels: the 20 kernels of `data/kernels.hip.cpp`, as compilers built them, against
//! the same arithmetic in Rust.

mod gpu;

use gpu::{Args, Gpu};

const OBJECTS: [&str; 4] = [
    "kernels.gfx90a.O2.co",
    "kernels.gfx90a.O0.co",
    "kernels.gfx906.O2.co",
    "kernels.gfx942.O2.co",
];

/// Runs a test on each code object.
fn on_each(test: impl Fn(&Gpu)) {
    for object in OBJECTS {
        eprintln!("{object}");
        test(&Gpu::with_object(object));
    }
}

fn floats(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..n).map(|_| next() as f32 / 4_194_304.0 - 2.0).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn saxpy() {
    on_each(|gpu| {
        let (n, a) = (1000, 2.5f32);
        let (x, y) = (floats(1024, 1), floats(1024, 2));
        let (dx, dy) = (gpu.upload(&x), gpu.upload(&y));
        let args = Args::new().i32(n).f32(a).ptr(dx).ptr(dy);
        gpu.launch("saxpy", [4, 1, 1], [256, 1, 1], 0, args);
        let expected: Vec<f32> =
            (0..1024).map(|i| if i < n as usize { a.mul_add(x[i], y[i]) } else { y[i] }).collect();
        assert_eq!(bits(&gpu.download::<f32>(dy, 1024)), bits(&expected));
    });
}

#[test]
fn vadd_f64() {
    on_each(|gpu| {
        let n = 200;
        let a: Vec<f64> = floats(256, 3).iter().map(|&x| f64::from(x) * 1e100).collect();
        let b: Vec<f64> = floats(256, 4).iter().map(|&x| f64::from(x)).collect();
        let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&[7.0f64; 256]));
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(n);
        gpu.launch("vadd_f64", [2, 1, 1], [128, 1, 1], 0, args);
        let expected: Vec<f64> =
            (0..256).map(|i| if i < n as usize { a[i] + b[i] } else { 7.0 }).collect();
        assert_eq!(gpu.download::<f64>(dc, 256), expected);
    });
}

#[test]
fn transpose_lds() {
    on_each(|gpu| {
        let (w, h) = (70usize, 45usize);
        let input = floats(w * h, 5);
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&vec![0f32; w * h]));
        let args = Args::new().ptr(di).ptr(d_out).i32(w as i32).i32(h as i32);
        gpu.launch("transpose_lds", [3, 2, 1], [32, 8, 1], 0, args);
        let out = gpu.download::<f32>(d_out, w * h);
        for y in 0..h {
            for x in 0..w {
                assert_eq!(out[x * h + y], input[y * w + x], "({x}, {y})");
            }
        }
    });
}

/// The kernel's tree over one block.
fn block_sum(input: &[f32], block: usize, n: usize, size: usize) -> f32 {
    let at = |i: usize| if i < n { input[i] } else { 0.0 };
    let mut s: Vec<f32> = (0..size)
        .map(|t| {
            let i = block * size * 2 + t;
            let v = at(i);
            if i + size < n { v + input[i + size] } else { v }
        })
        .collect();
    let mut k = size / 2;
    while k > 0 {
        for t in 0..k {
            s[t] += s[t + k];
        }
        k /= 2;
    }
    s[0]
}

#[test]
fn reduce_lds() {
    on_each(|gpu| {
        let n = 1900;
        let input = floats(n, 6);
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&[0f32]));
        let args = Args::new().ptr(di).ptr(d_out).i32(n as i32);
        gpu.launch("reduce_lds", [4, 1, 1], [256, 1, 1], 256 * 4, args);
        let expected = (0..4).fold(0f32, |sum, block| sum + block_sum(&input, block, n, 256));
        assert_eq!(gpu.download::<f32>(d_out, 1), [expected]);
    });
}

#[test]
fn reduce_shfl() {
    on_each(|gpu| {
        let (n, blocks, size) = (3000usize, 3usize, 128usize);
        let input = floats(n, 7);
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&[0f32]));
        let args = Args::new().ptr(di).ptr(d_out).i32(n as i32);
        gpu.launch("reduce_shfl", [3, 1, 1], [128, 1, 1], 0, args);
        let mut expected = 0f32;
        for wave in 0..blocks * size / 64 {
            let mut v: Vec<f32> = (0..64)
                .map(|lane| {
                    let first = wave * 64 + lane;
                    (first..n).step_by(blocks * size).fold(0f32, |v, i| v + input[i])
                })
                .collect();
            let mut o = 32;
            while o > 0 {
                let before = v.clone();
                for lane in 0..64 {
                    // A lane that would read beyond the wave reads itself.
                    v[lane] += before[if lane + o < 64 { lane + o } else { lane }];
                }
                o /= 2;
            }
            expected += v[0];
        }
        assert_eq!(gpu.download::<f32>(d_out, 1), [expected]);
    });
}

#[test]
fn gemm_naive() {
    on_each(|gpu| {
        let (m, n, k) = (19usize, 23usize, 31usize);
        let (a, b) = (floats(m * k, 8), floats(k * n, 9));
        let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&vec![0f32; m * n]));
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(m as i32).i32(n as i32).i32(k as i32);
        gpu.launch("gemm_naive", [3, 3, 1], [8, 8, 1], 0, args);
        let expected: Vec<f32> = (0..m * n)
            .map(|i| {
                let (r, c) = (i / n, i % n);
                (0..k).fold(0f32, |s, k0| a[r * k + k0].mul_add(b[k0 * n + c], s))
            })
            .collect();
        assert_eq!(bits(&gpu.download::<f32>(dc, m * n)), bits(&expected));
    });
}

#[test]
fn gemm_tiled() {
    on_each(|gpu| {
        let n = 48usize;
        let (a, b) = (floats(n * n, 10), floats(n * n, 11));
        let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&vec![0f32; n * n]));
        let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(n as i32);
        gpu.launch("gemm_tiled", [3, 3, 1], [16, 16, 1], 0, args);
        // Where there are packed multiplications, the optimiser uses them for most of a tile's
        // products, which it then adds without fusing.
        let fused = match gpu.name.as_str() {
            "kernels.gfx90a.O2.co" => 2,
            "kernels.gfx942.O2.co" => 4,
            _unpacked => 16,
        };
        let step = |i: usize, s: f32, k: usize| {
            let (a, b) = (a[i / n * n + k], b[k * n + i % n]);
            if k % 16 < fused { a.mul_add(b, s) } else { s + a * b }
        };
        let expected: Vec<f32> =
            (0..n * n).map(|i| (0..n).fold(0f32, |s, k| step(i, s, k))).collect();
        assert_eq!(bits(&gpu.download::<f32>(dc, n * n)), bits(&expected));
    });
}

#[test]
fn histogram_atomic() {
    on_each(|gpu| {
        let n = 5000usize;
        let input: Vec<u8> = (0..n).map(|i| (i * i / 7) as u8).collect();
        let (di, dh) = (gpu.upload(&input), gpu.upload(&[0u32; 256]));
        let args = Args::new().ptr(di).ptr(dh).i32(n as i32);
        gpu.launch("histogram_atomic", [4, 1, 1], [192, 1, 1], 0, args);
        let mut expected = [0u32; 256];
        input.iter().for_each(|&x| expected[usize::from(x)] += 1);
        assert_eq!(gpu.download::<u32>(dh, 256), expected);
    });
}

#[test]
fn scan_block() {
    on_each(|gpu| {
        let n = 250usize;
        let input: Vec<i32> = (0..256).map(|i| i * 37 % 101 - 50).collect();
        let d = gpu.upload(&input);
        gpu.launch("scan_block", [1, 1, 1], [256, 1, 1], 0, Args::new().ptr(d).i32(n as i32));
        let mut sum = 0;
        let expected: Vec<i32> = (0..256)
            .map(|i| {
                sum += input[i];
                if i < n { sum } else { input[i] }
            })
            .collect();
        assert_eq!(gpu.download::<i32>(d, 256), expected);
    });
}

#[test]
fn mathk() {
    on_each(|gpu| {
        let n = 500usize;
        let x: Vec<f32> = floats(512, 12).iter().map(|x| x.abs() * 3.0 + 1e-3).collect();
        let (dx, dy) = (gpu.upload(&x), gpu.upload(&[0f32; 512]));
        let args = Args::new().ptr(dx).ptr(dy).i32(n as i32);
        gpu.launch("mathk", [2, 1, 1], [256, 1, 1], 0, args);
        for (i, y) in gpu.download::<f32>(dy, 512).into_iter().enumerate() {
            let v = f64::from(x[i]);
            let expected =
                if i < n { v.sqrt() + v.exp() * v.sin() + v.ln() / (v + 1.0) } else { 0.0 };
            // The device library's functions are good to a few units in the last place, and
            // the terms are as large as exp.
            let error = (f64::from(y) - expected).abs();
            assert!(error <= 1e-6 * (v.exp() + 2.0), "{i}: {v} {y} {expected}");
        }
    });
}

#[test]
fn divmod() {
    on_each(|gpu| {
        let n = 128usize;
        let mut a: Vec<i32> =
            (0..128).map(|i: i32| i.wrapping_mul(0x0123_4567) ^ (i << 28)).collect();
        let mut b: Vec<i32> = (0..128).map(|i| i * i * 77 - 3000).collect();
        b.iter_mut().filter(|b| **b == 0).for_each(|b| *b = 1);
        (a[0], b[0]) = (i32::MAX, -1);
        (a[1], b[1]) = (i32::MIN, 2);
        (a[2], b[2]) = (-7, i32::MIN);
        (a[3], b[3]) = (i32::MIN, i32::MIN);
        let (da, db) = (gpu.upload(&a), gpu.upload(&b));
        let (dq, dr) = (gpu.upload(&[0i32; 128]), gpu.upload(&[0u64; 128]));
        let args = Args::new().ptr(da).ptr(db).ptr(dq).ptr(dr).i32(n as i32);
        gpu.launch("divmod", [2, 1, 1], [64, 1, 1], 0, args);
        let q: Vec<i32> = (0..n).map(|i| (a[i] / b[i]).wrapping_add(a[i] % b[i])).collect();
        let r: Vec<u64> =
            (0..n).map(|i| (a[i] as i64 as u64).wrapping_mul(u64::from(b[i] as u32))).collect();
        assert_eq!(gpu.download::<i32>(dq, n), q);
        assert_eq!(gpu.download::<u64>(dr, n), r);
    });
}

#[test]
fn stencil2d() {
    on_each(|gpu| {
        let (w, h) = (37usize, 21usize);
        let input = floats(w * h, 13);
        let (di, d_out) = (gpu.upload(&input), gpu.upload(&vec![0f32; w * h]));
        let args = Args::new().ptr(di).ptr(d_out).i32(w as i32).i32(h as i32);
        gpu.launch("stencil2d", [3, 2, 1], [16, 16, 1], 0, args);
        let mut expected = vec![0f32; w * h];
        for y in 1..h - 1 {
            for x in 1..w - 1 {
                let i = y * w + x;
                let sum = input[i - 1] + input[i + 1] + input[i - w] + input[i + w];
                expected[i] = 0.25 * sum;
            }
        }
        assert_eq!(bits(&gpu.download::<f32>(d_out, w * h)), bits(&expected));
    });
}

#[test]
fn nbody() {
    on_each(|gpu| {
        let (n, dt) = (50usize, 0.01f32);
        let (p, v) = (floats(4 * n, 14), floats(4 * n, 15));
        let (dp, dv) = (gpu.upload(&p), gpu.upload(&v));
        let args = Args::new().ptr(dp).ptr(dv).i32(n as i32).f32(dt);
        gpu.launch("nbody", [1, 1, 1], [64, 1, 1], 0, args);
        let result = gpu.download::<f32>(dv, 4 * n);
        for i in 0..n {
            let mut acceleration = [0f64; 3];
            for j in 0..n {
                let d = [0, 1, 2].map(|c| f64::from(p[4 * j + c]) - f64::from(p[4 * i + c]));
                let r = 1.0 / (d.iter().map(|d| d * d).sum::<f64>() + 1e-6).sqrt();
                let k = f64::from(p[4 * j + 3]) * r * r * r;
                (0..3).for_each(|c| acceleration[c] += d[c] * k);
            }
            for c in 0..3 {
                let expected = f64::from(v[4 * i + c]) + f64::from(dt) * acceleration[c];
                let error = (f64::from(result[4 * i + c]) - expected).abs();
                // Close encounters have terms of 1e4, in single precision.
                assert!(error < 1e-4 * (1.0 + expected.abs()), "{i} {c}: {expected}");
            }
            assert_eq!(result[4 * i + 3], v[4 * i + 3]);
        }
    });
}

#[test]
fn ptrchase() {
    on_each(|gpu| {
        let cells = gpu.upload(&floats(64, 16));
        let before = gpu.download::<f32>(cells, 64);
        let pointers: Vec<u64> =
            (0..64).map(|i| if i % 3 == 0 { 0 } else { cells + 4 * ((i * 5) % 64) }).collect();
        let d = gpu.upload(&pointers);
        gpu.launch("ptrchase", [1, 1, 1], [64, 1, 1], 0, Args::new().ptr(d).i32(60));
        let mut expected = before;
        for (i, &p) in pointers.iter().enumerate().take(60) {
            if p != 0 {
                assert!(i < 60);
                expected[((p - cells) / 4) as usize] += 1.0;
            }
        }
        assert_eq!(gpu.download::<f32>(cells, 64), expected);
    });
}

#[test]
fn byval_struct() {
    on_each(|gpu| {
        let b = floats(100, 17);
        let (da, db) = (gpu.upload(&[0f32; 100]), gpu.upload(&b));
        let k = floats(8, 18);
        let mut big = Vec::new();
        big.extend(da.to_le_bytes());
        big.extend(db.to_le_bytes());
        big.extend(90i32.to_le_bytes());
        k.iter().for_each(|k| big.extend(k.to_le_bytes()));
        big.resize(56, 0);
        gpu.launch("byval_struct", [2, 1, 1], [64, 1, 1], 0, Args::new().bytes(big));
        let expected: Vec<f32> =
            (0..100).map(|i| if i < 90 { b[i] * k[i & 7] } else { 0.0 }).collect();
        assert_eq!(bits(&gpu.download::<f32>(da, 100)), bits(&expected));
    });
}

#[test]
fn fill_u8() {
    on_each(|gpu| {
        let d = gpu.upload(&[1u8; 300]);
        let args = Args::new().ptr(d).bytes(vec![0xa5]).bytes(259u64.to_le_bytes().to_vec());
        gpu.launch("fill_u8", [3, 1, 1], [100, 1, 1], 0, args);
        let expected: Vec<u8> = (0..300).map(|i| if i < 259 { 0xa5 } else { 1 }).collect();
        assert_eq!(gpu.download::<u8>(d, 300), expected);
    });
}

#[test]
fn collatz() {
    on_each(|gpu| {
        let d = gpu.upload(&[0u32; 128]);
        gpu.launch("collatz", [2, 1, 1], [64, 1, 1], 0, Args::new().ptr(d).i32(120));
        let steps = |i: u32| {
            let (mut v, mut c) = (i + 1, 0);
            while v != 1 {
                v = if v & 1 != 0 { 3 * v + 1 } else { v >> 1 };
                c += 1;
            }
            c
        };
        let expected: Vec<u32> = (0..128).map(|i| if i < 120 { steps(i) } else { 0 }).collect();
        assert_eq!(gpu.download::<u32>(d, 128), expected);
    });
}

#[test]
fn ballotk() {
    on_each(|gpu| {
        let a: Vec<i32> = (0..256).map(|i| (i * 7919) % 11 - 5).collect();
        let (da, d_out) = (gpu.upload(&a), gpu.upload(&[0u64; 4]));
        let args = Args::new().ptr(da).ptr(d_out).i32(200);
        gpu.launch("ballotk", [2, 1, 1], [128, 1, 1], 0, args);
        let mut expected = [0u64; 4];
        for i in 0..200 {
            if a[i] > 0 {
                expected[i / 64] |= 1 << (i % 64);
            }
        }
        assert_eq!(gpu.download::<u64>(d_out, 4), expected);
    });
}

#[test]
fn cas_lock() {
    on_each(|gpu| {
        let (lock, value) = (gpu.upload(&[0i32]), gpu.upload(&[5i32]));
        let args = Args::new().ptr(lock).ptr(value).i32(300);
        gpu.launch("cas_lock", [4, 1, 1], [128, 1, 1], 0, args);
        assert_eq!(gpu.download::<i32>(value, 1), [299]);
    });
}

#[test]
fn useglob() {
    on_each(|gpu| {
        let table = floats(64, 19);
        gpu.write_symbol("cTab", &table);
        let d = gpu.upload(&[0f32; 128]);
        gpu.launch("useglob", [2, 1, 1], [64, 1, 1], 0, Args::new().ptr(d).i32(100));
        let expected: Vec<f32> =
            (0..128).map(|i| if i < 100 { table[i & 63] + 7.0 } else { 0.0 }).collect();
        assert_eq!(bits(&gpu.download::<f32>(d, 128)), bits(&expected));
    });
}
