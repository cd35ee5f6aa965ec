//! The sandbox of a decode process, which gives up its privileges permanently before it reads a
//! byte of the file.

#[cfg(target_os = "linux")]
pub use linux::missing_protection;
#[cfg(target_os = "linux")]
pub(super) use linux::{close, close_descriptors};

/// Reports every protection as missing, because only Linux supports the sandbox.
#[cfg(not(target_os = "linux"))]
pub fn missing_protection() -> Vec<&'static str> {
    vec!["Landlock", "seccomp"]
}

#[cfg(not(target_os = "linux"))]
pub(super) fn close_descriptors() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn close(_: &super::wire::WorkerRequest) -> Result<(), String> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fmt::Display;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope,
    };
    use rustix::process::{
        DumpableBehavior, Resource, Rlimit, Signal, getppid, set_dumpable_behavior,
        set_parent_process_death_signal, setrlimit,
    };
    use rustix::thread::{secure_computing_mode, set_no_new_privs};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch, apply_filter,
    };

    use crate::decoder::worker::wire::WorkerRequest;

    /// Standard input, output and error.
    const STANDARD: u32 = 3;

    /// System calls that decoding needs, such as I/O on open descriptors, memory, threads and
    /// clocks.
    const ALLOWED: &[libc::c_long] = &[
        libc::SYS_brk,
        libc::SYS_clock_getres,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_fstat,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_gettimeofday,
        libc::SYS_lseek,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_pread64,
        libc::SYS_read,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
        libc::SYS_statx,
        libc::SYS_write,
        libc::SYS_writev,
    ];

    /// Returns the protections that this kernel lacks.
    pub fn missing_protection() -> Vec<&'static str> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(|ruleset| ruleset.create());
        let mut missing = Vec::new();
        if ruleset.is_err() {
            missing.push("Landlock");
        }
        if secure_computing_mode().is_err() {
            missing.push("seccomp");
        }
        missing
    }

    /// Closes inherited descriptors except the standard ones. Must be the first action of the
    /// process.
    pub(in super::super) fn close_descriptors() {
        #[expect(unsafe_code, reason = "no safe function closes descriptors that nobody owns")]
        // SAFETY: this process has not opened a descriptor yet.
        unsafe {
            libc::close_range(STANDARD, u32::MAX, 0);
        }
    }

    /// Drops all privileges that decoding does not need. Skips protections that the kernel does not
    /// support; a warning at startup names them.
    pub(in super::super) fn close(request: &WorkerRequest) -> Result<(), String> {
        let missing = missing_protection();
        end_with_parent(request.parent)?;
        set_no_new_privs(true).map_err(failed("giving up privileges"))?;
        set_limits(request)?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed("hiding memory"))?;
        if !missing.contains(&"Landlock") {
            leave_file_system_and_network()?;
        }
        // Forbids opening any further descriptor.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        setrlimit(Resource::Nofile, none).map_err(failed("setting limits"))?;
        if !missing.contains(&"seccomp") {
            let filter = filter().map_err(failed("filtering system calls"))?;
            apply_filter(&filter).map_err(failed("filtering system calls"))?;
        }
        Ok(())
    }

    fn failed<E: Display>(what: &str) -> impl Fn(E) -> String + '_ {
        move |error| format!("{what} failed: {error}")
    }

    fn end_with_parent(parent: u32) -> Result<(), String> {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("tying lives"))?;
        // The parent may have died before the call above took effect.
        let alive = getppid().is_some_and(|id| id.as_raw_nonzero().get().unsigned_abs() == parent);
        if alive { Ok(()) } else { Err("the service has ended".into()) }
    }

    fn set_limits(request: &WorkerRequest) -> Result<(), String> {
        // Makes the OOM killer choose this process first. If this fails, the OOM killer chooses by
        // memory size.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        let statm = std::fs::read_to_string("/proc/self/statm").map_err(failed("measuring"))?;
        let pages: u64 = statm.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let own = pages * rustix::param::page_size() as u64;
        let hard = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
        for (resource, limit) in [
            (Resource::As, hard(own + request.memory)),
            // The parent raises this limit as decoded media arrives.
            (Resource::Cpu, Rlimit { current: Some(request.processor_seconds), maximum: None }),
            (Resource::Fsize, hard(0)),
            (Resource::Core, hard(0)),
        ] {
            setrlimit(resource, limit).map_err(failed("setting limits"))?;
        }
        Ok(())
    }

    fn leave_file_system_and_network() -> Result<(), String> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))
            .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V6)))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
            .and_then(|ruleset| ruleset.create())
            .and_then(|ruleset| ruleset.set_compatibility(CompatLevel::BestEffort).restrict_self());
        ruleset.map(drop).map_err(failed("leaving the file system"))
    }

    /// Builds the system call filter. A call that is not allowed fails as if the kernel did not
    /// implement it, which libraries can handle.
    fn filter() -> Result<BpfProgram, seccompiler::Error> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
        let bits = |argument, mask: i32, value: i32| {
            let (mask, value) = (mask.unsigned_abs().into(), value.unsigned_abs().into());
            let operator = SeccompCmpOp::MaskedEq(mask);
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        };
        let only = |condition| SeccompRule::new(vec![condition]).map(|rule| vec![rule]);
        // Allows new threads but no new processes.
        rules.insert(libc::SYS_clone, only(bits(0, libc::CLONE_THREAD, libc::CLONE_THREAD)?)?);
        // Forbids executable memory.
        for call in [libc::SYS_mmap, libc::SYS_mprotect] {
            rules.insert(call, only(bits(2, libc::PROT_EXEC, 0)?)?);
        }
        // Allows setting thread names.
        rules.insert(libc::SYS_prctl, only(bits(0, -1, libc::PR_SET_NAME)?)?);
        // `abort` sends a signal to the process itself.
        let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        rules.insert(libc::SYS_tgkill, only(bits(0, i32::MAX, own)?)?);
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
            SeccompAction::Allow,
            TargetArch::try_from(std::env::consts::ARCH)?,
        )?;
        Ok(filter.try_into()?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn kernel_accepts_the_filter() {
            let filter = filter().expect("a filter");
            assert!(filter.len() > ALLOWED.len());
        }
    }
}
