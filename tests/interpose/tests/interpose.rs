//! Every way in which a program can reach the runtime: each call is recorded exactly once, in the
//! runtime that the program chose, and the program behaves as it does without the recorder.
//!
//! Clients and fake runtimes are compiled here. Each program runs twice, alone and under
//! `hrr record`; its output, its status and what the fake runtimes counted must be equal, and the
//! archive must hold the expected calls. A case whose tool is absent says `NOT RUN`.

mod fixture;

use fixture::{Case, Client, Tool};

fn main() {
    let args = libtest_mimic::Arguments::from_args();
    let cases: Vec<Case> =
        linking().into_iter().chain(loading()).chain(processes()).chain(others()).collect();
    libtest_mimic::run(&args, cases.into_iter().map(Case::trial).collect()).exit();
}

/// What linked.c calls; the nested call of the runtime is no event.
const LINKED: &[(&str, u64)] = &[("hipFree", 2), ("hipMalloc", 1), ("hipMemAllocPitch", 1)];
const PAIR: &[(&str, u64)] = &[("hipFree", 1), ("hipMalloc", 1)];

fn linking() -> Vec<Case> {
    vec![
        Case::new("linked", &[Tool::Gcc], |f| {
            let program = f.link("linked.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            f.check(Client::new(program).library_path(f.dir("fake5")), &[LINKED])
        }),
        Case::new("linked_cpp", &[Tool::Gxx], |f| {
            let program = f.link("linked.cpp", &["-L@fake5", "-l:libamdhip64.so.5"]);
            f.check(Client::new(program).library_path(f.dir("fake5")), &[PAIR])
        }),
        Case::new("runpath", &[Tool::Gcc], |f| {
            let flags = ["-L@fake6", "-l:libamdhip64.so.6", "-Wl,-rpath,@fake6,--enable-new-dtags"];
            f.check(Client::new(f.link("linked.c", &flags)), &[LINKED])
        }),
        Case::new("rpath", &[Tool::Gcc], |f| {
            let flags =
                ["-L@fake6", "-l:libamdhip64.so.6", "-Wl,-rpath,@fake6,--disable-new-dtags"];
            f.check(Client::new(f.link("linked.c", &flags)), &[LINKED])
        }),
        Case::new("unknown_function", &[Tool::Gcc], |f| {
            let program = f.link("unknown.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            f.check(Client::new(program).library_path(f.dir("fake5")), &[PAIR])
        }),
        Case::new("address_sanitizer", &[Tool::AddressSanitizer], |f| {
            let flags = ["-fsanitize=address", "-L@fake5", "-l:libamdhip64.so.5"];
            let program = f.link("linked.c", &flags);
            f.check(Client::new(program).library_path(f.dir("fake5")), &[LINKED])
        }),
        Case::new("thread_sanitizer", &[Tool::ThreadSanitizer], |f| {
            let flags = ["-fsanitize=thread", "-L@fake5", "-l:libamdhip64.so.5"];
            let program = f.link("linked.c", &flags);
            f.check(Client::new(program).library_path(f.dir("fake5")), &[LINKED])
        }),
    ]
}

fn loading() -> Vec<Case> {
    vec![
        Case::new("absolute_path", &[Tool::Gcc], |f| {
            let client = Client::new(f.link("loaded.c", &[])).arg(f.runtime(6)).arg("local");
            f.check(client, &[LINKED])
        }),
        Case::new("deepbind", &[Tool::Gcc], |f| {
            let client = Client::new(f.link("loaded.c", &[])).arg(f.runtime(6)).arg("deepbind");
            f.check(client, &[LINKED])
        }),
        Case::new("namespace", &[Tool::Gcc], |f| {
            let client = Client::new(f.link("loaded.c", &[])).arg(f.runtime(6)).arg("namespace");
            f.check(client, &[LINKED])
        }),
        Case::new("loaded_address_sanitizer", &[Tool::AddressSanitizer], |f| {
            // The sanitizer itself refuses RTLD_DEEPBIND.
            let program = f.link("loaded.c", &["-fsanitize=address"]);
            f.check(Client::new(program).arg(f.runtime(6)).arg("local"), &[LINKED])
        }),
        Case::new("loaded_thread_sanitizer", &[Tool::ThreadSanitizer], |f| {
            let program = f.link("loaded.c", &["-fsanitize=thread"]);
            f.check(Client::new(program).arg(f.runtime(6)).arg("local"), &[LINKED])
        }),
        Case::new("ctypes_by_name", &[Tool::Gcc, Tool::Python], |f| {
            let client = Client::new(f.python()).arg(f.client("loaded.py")).arg("libamdhip64.so.7");
            f.check(client.library_path(f.dir("fake7")), &[PAIR])
        }),
        Case::new("plugin", &[Tool::Gcc], |f| {
            let plugin = f.library("plugin.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            let client = Client::new(f.link("plugin_host.c", &[])).arg(plugin).arg("local");
            f.check(client.library_path(f.dir("fake5")), &[PAIR])
        }),
        Case::new("plugin_deepbind", &[Tool::Gcc], |f| {
            let plugin = f.library("plugin.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            let client = Client::new(f.link("plugin_host.c", &[])).arg(plugin).arg("deepbind");
            f.check(client.library_path(f.dir("fake5")), &[PAIR])
        }),
        Case::new("plugins_with_runtimes_of_their_own", &[Tool::Gcc], |f| {
            // Both bind the same names, and one pointer per name is all there is: named, not silent.
            let first = f.library("plugin.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            let second = f.library("plugin2.c", &["-L@fake6", "-l:libamdhip64.so.6"]);
            let client =
                Client::new(f.link("plugin_host.c", &[])).arg(first).arg("local").arg(second);
            let path = std::env::join_paths([f.dir("fake5"), f.dir("fake6")])?;
            f.record(&client.library_path(path))
                .says(&format!("not recorded: {}", f.runtime(6).display()))
        }),
        Case::new("entry_point", &[Tool::Gcc], |f| {
            let client = Client::new(f.link("entry_point.c", &[])).arg(f.runtime(6));
            let calls = [("hipFree", 1), ("hipGetProcAddress", 3), ("hipMalloc", 1)];
            f.check(client, &[&calls])
        }),
        Case::new("look_ups", &[Tool::Gcc], |f| {
            let client = Client::new(f.link("lookup.c", &[])).arg(f.runtime(6));
            f.check(client, &[&[("hipMalloc", 1)]])
        }),
        Case::new("own_runpath", &[Tool::Gcc], |f| {
            let folder = f.library("beside.c", &[]);
            let folder = folder.parent().expect("a library has a folder").display().to_string();
            let flag = format!("-Wl,-rpath,{folder},--enable-new-dtags");
            f.check(Client::new(f.link("runpath.c", &[&flag])), &[])
        }),
        Case::new("loaded_and_never_called", &[Tool::Gcc], |f| {
            let outcome = f.record(&Client::new(f.link("quiet.c", &[])).arg(f.runtime(6)));
            outcome.says("no HIP call was seen")?;
            f.check(Client::new(f.link("quiet.c", &[])).arg(f.runtime(6)), &[])
        }),
        Case::new("two_runtimes", &[Tool::Gcc], |f| {
            let program = f.link("two_runtimes.c", &[]);
            let client = || Client::new(&program).arg(f.runtime(5)).arg(f.runtime(6));
            let outcome = f.record(&client());
            outcome.says(&format!("not recorded: {}", f.runtime(6).display()))?;
            f.check(client(), &[PAIR])
        }),
    ]
}

fn processes() -> Vec<Case> {
    vec![
        Case::new("fork_and_exec", &[Tool::Gcc], |f| {
            let flags = ["-L@fake5", "-l:libamdhip64.so.5"];
            let (program, other) = (f.link("family.c", &flags), f.link("linked.c", &flags));
            let path = f.dir("fake5");
            // The third child has no LD_PRELOAD any more: no event of it is recorded.
            let client = Client::new(program)
                .arg(other)
                .arg(format!("LD_LIBRARY_PATH={}", path.display()))
                .arg(format!("FAKE_LOG={}", f.log().display()))
                .library_path(path);
            f.check(client, &[PAIR, PAIR, LINKED])
        }),
        Case::new("static_program", &[Tool::StaticLibc], |f| {
            let client = Client::new(f.link("static.c", &["-static"]));
            let outcome = f.record(&client);
            outcome.says("statically linked")?;
            outcome.says("no HIP call was seen")?;
            f.check(client, &[])
        }),
        Case::new("set_user_id_program", &[Tool::Gcc, Tool::Root], |f| {
            let program =
                f.link("linked.c", &["-L@fake5", "-l:libamdhip64.so.5", "-Wl,-rpath,@fake5"]);
            f.give_to_nobody_with_set_user_id(&program);
            let outcome = f.record(&Client::new(&program));
            outcome.says("set-user-ID")?;
            outcome.says("no HIP call was seen")?;
            f.check(Client::new(program), &[])
        }),
        Case::new("file_capabilities", &[Tool::Gcc, Tool::Setcap], |f| {
            let program =
                f.link("linked.c", &["-L@fake5", "-l:libamdhip64.so.5", "-Wl,-rpath,@fake5"]);
            f.give_capability(&program);
            f.record(&Client::new(program)).says("file capabilities")
        }),
        Case::new("signal_is_forwarded", &[Tool::Gcc], |f| {
            let program = f.link("signal.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            let client = Client::new(program).arg("exit").library_path(f.dir("fake5"));
            f.check_signalled(client, rustix::process::Signal::TERM, 7)
        }),
        Case::new("death_by_signal_is_the_status", &[Tool::Gcc], |f| {
            let program = f.link("signal.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            let client = Client::new(program).arg("die").library_path(f.dir("fake5"));
            f.check_signalled(client, rustix::process::Signal::TERM, 128 + 15)
        }),
        Case::new("instrumented_and_preloaded", &[Tool::Gcc], |f| {
            let client = Client::new(env!("CARGO_BIN_EXE_instrumented"));
            f.check(client.variable("HRR_RUNTIME", f.runtime(6)), &[PAIR])
        }),
        Case::new("instrumented_alone", &[Tool::Gcc], |f| {
            let client = Client::new(env!("CARGO_BIN_EXE_instrumented"));
            f.check_alone(client.variable("HRR_RUNTIME", f.runtime(6)), &[PAIR])
        }),
    ]
}

fn others() -> Vec<Case> {
    vec![
        Case::new("emulated_gpu_in_front", &[Tool::Gcc], |f| {
            let program = f.link("linked.c", &["-L@fake5", "-l:libamdhip64.so.5"]);
            f.check_emulated(Client::new(program), &[LINKED])
        }),
        Case::new("preload_exports_the_table", &[], |_| fixture::preload_exports_the_table()),
        Case::new("command_exports_no_hip_name", &[], |_| fixture::command_exports_no_hip_name()),
    ]
}
