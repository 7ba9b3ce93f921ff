import type { CaseOutcome } from "./run-case.ts";

/** The outcomes as a JUnit report. */
export function junitReport(outcomes: readonly CaseOutcome[]): string {
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
  const time = seconds(outcomes.reduce((total, { durationMs }) => total + durationMs, 0));
  const cases = outcomes.map((outcome) => {
    const open = `    <testcase classname="cassettes" name=${attribute(outcome.case.name)} file=${attribute(outcome.case.name)} time="${seconds(outcome.durationMs)}"`;
    const [first] = outcome.failures;
    if (first === undefined) return `${open}/>`;
    const details = [...outcome.failures, ...(outcome.divergence?.diff ?? [])].join("\n");
    return `${open}>\n      <failure message=${attribute(first)}>${escapeXml(details)}</failure>\n    </testcase>`;
  });
  const counts = `tests="${outcomes.length}" failures="${failed}" time="${time}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="tandem cassettes" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

const attribute = (text: string): string => `"${escapeXml(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;")}"`;

/** XML 1.0 has no control characters, not even escaped. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");

/** A failed case as an annotation of GitHub Actions. */
export function githubAnnotation({ case: { name }, failures, divergence }: CaseOutcome): string {
  const text = [...failures, ...(divergence?.diff ?? [])].join("\n");
  return `::error file=${escapeProperty(name)},title=${escapeProperty("Cassette test failed")}::${escapeData(text)}`;
}

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string): string => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
