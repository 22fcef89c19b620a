// Time that does not depend on what else the machine does.

/** Milliseconds that this process computes during `work`, its own threads included; waiting does not count. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
