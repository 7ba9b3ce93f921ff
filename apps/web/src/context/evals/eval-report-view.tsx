import type { EvalReport, EvalScore } from "@tandem/protocol";
import { money } from "../../text/format.ts";
import { ComparedQuestions, comparisonText } from "./eval-comparison.tsx";

/** The report of an eval run: checks without a model, scores per arm, and a comparison. */
export function EvalReportView({ report }: { report: EvalReport }) {
  const { checks, scores, comparison, missed } = report;
  const overall = scores.filter(({ tag }) => tag === null);
  return (
    <section aria-labelledby="eval-report" className="mt-5 space-y-4 text-sm">
      <h3 id="eval-report" className="text-sm font-medium text-ink-soft">
        Report
      </h3>
      {comparison && (
        <div>
          <p className="font-medium">{comparisonText(comparison)}</p>
          <ComparedQuestions comparison={comparison} />
        </div>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1">
        {(["gold", "finds", "values", "joins"] as const).map((name) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint">{NAMES[name]}</dt>
            <dd className="tabular-nums">
              {checks[name].found} of {checks[name].wanted}
            </dd>
          </div>
        ))}
      </dl>
      {overall.length > 0 && <Scores scores={overall} report={report} />}
      {missed.length > 0 && (
        <ul className="space-y-1 text-bad">
          {missed.map((line) => (
            <li key={line} className="wrap-anywhere">
              {line}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const NAMES = { gold: "Gold answers", finds: "Found by search", values: "Values found", joins: "Join paths" };

function Scores({ scores, report }: { scores: readonly EvalScore[]; report: EvalReport }) {
  return (
    <div className="overflow-x-auto">
      <table className="tabular-nums">
        <caption className="mb-1 text-left text-xs text-ink-faint">
          {report.model}: {report.asked} trials asked, {report.recorded} from recordings. 95 % Wilson intervals over
          questions.
        </caption>
        <thead className="text-left text-ink-faint">
          <tr>
            {["Arm", "pass@1", `pass^${scores[0]?.k ?? 1}`, "Wrong but confident", "Cost"].map((name) => (
              <th key={name} scope="col" className="pr-5 font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {scores.map((score) => (
            <tr key={score.arm}>
              <td className="pr-5">{score.arm}</td>
              <td className="pr-5">{shown(score.pass_at_1)}</td>
              <td className="pr-5">{shown(score.pass_hat_k)}</td>
              <td className="pr-5">{shown(score.wrong_but_confident)}</td>
              <td>{score.usd === null ? "unknown" : money(score.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const shown = ({ value, low, high }: EvalScore["pass_at_1"]): string =>
  `${Math.round(value * 100)} % (${Math.round(low * 100)}–${Math.round(high * 100)})`;
