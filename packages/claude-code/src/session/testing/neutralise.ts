/** Fields with a fixed value in recordings: times, sizes, and lists that depend on the machine. */
const FIXED: Record<string, unknown> = {
  timestamp: "2026-01-01T00:00:00.000Z",
  duration_ms: 0,
  duration_api_ms: 0,
  ttft_ms: 0,
  ttft_stream_ms: 0,
  time_to_request_ms: 0,
  time_to_request_from_spawn_ms: 0,
  request_sent_wall_ms: 0,
  first_content_frame_ms: 0,
  time_origin_ms: 0,
  retry_delay_ms: 500,
  totalDurationMs: 0,
  end_time: 0,
  startedAt: 0,
  queuedAt: 0,
  lastProgressAt: 0,
  durationMs: 0,
  gitBranch: "HEAD",
  slash_commands: [],
  terminal_slash_commands: [],
  skills: [],
  capabilities: [],
  credential_expires_at: "2026-01-01T00:00:00.000Z",
  harnessSectionHash: "",
};

/** Random ids and their stable placeholders, consistent within a recording. */
const IDS: readonly [RegExp, (n: number) => string][] = [
  [
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  ],
  [/\b(?:msg|req)_01[0-9a-f]{22}\b/g, (n) => `msg_${n}`],
  [/\btoolu_01[0-9a-f]{22}\b/g, (n) => `toolu_${n}`],
  [/\ba[0-9a-f]{16}\b/g, (n) => `agent${n}`],
  [/\b0m[0-9a-z]{7}-[0-9a-f]{8}\b/g, (n) => `run${n}`],
  [/\bwf_[0-9a-f]{8}-[0-9a-f]{3}\b/g, (n) => `wf_${n}`],
];

/** Makes a recording independent of machine and date. */
export function neutralise(lines: readonly unknown[], replace: Readonly<Record<string, string>>): string[] {
  const known = IDS.map(() => new Map<string, string>());
  // Shell task ids look like words, so they are collected from the messages that introduce them.
  const shells = new Set(
    lines.flatMap((line) => [...JSON.stringify(line).matchAll(/"task_id":"([bw][0-9a-z]{8})"/g)].map(([, id]) => id!)),
  );
  const paths = Object.entries(replace).sort(([a], [b]) => b.length - a.length);
  return lines.map((line) => {
    let json = JSON.stringify(line, (key, value: unknown) => (key in FIXED ? FIXED[key] : value));
    for (const [path, name] of paths)
      json = json.replaceAll(path, name).replaceAll(path.replaceAll(/[^a-zA-Z0-9]/g, "-"), name.replaceAll("/", "-"));
    let shell = 0;
    for (const id of shells) json = json.replaceAll(id, `shell${++shell}`);
    for (const [index, [pattern, name]] of IDS.entries()) {
      json = json.replaceAll(pattern, (id) => {
        const ids = known[index]!;
        if (!ids.has(id)) ids.set(id, name(ids.size + 1));
        return ids.get(id)!;
      });
    }
    return json;
  });
}
