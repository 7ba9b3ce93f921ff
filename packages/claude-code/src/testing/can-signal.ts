/** True if this user may signal the process, or a process of the group `-pid`. A zombie counts. */
export function canSignal(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}
