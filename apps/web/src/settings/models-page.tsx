import type { ResponseOf } from "@tandem/protocol";
import type { ReactNode } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { count } from "../text/format.ts";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { Badge, PageHead, Panel } from "./panel.tsx";

type Model = ResponseOf<"models.retrieve">;

const COLUMNS = ["Model", "Window", "Max output", "Input", "Output", "Cached"] as const;
/** The unit is stated once, below the table. */
const rateFormat = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** Available models with their limits and prices. */
export default function ModelsPage() {
  const { data, error, refetch } = useServerQuery("models.list", { query: { limit: 1_000 } }, { staleTime: 300_000 });
  const asOf = data?.data.find(({ tandem }) => tandem.price)?.tandem.price?.as_of.slice(0, 10);
  return (
    <>
      <PageHead title="Models">The models available to agents, with context window and prices.</PageHead>
      <Problem error={error} onRetry={() => void refetch()} className="mb-4" />
      {data?.data.length === 0 && <Empty title="No models found">Check the backend under Status.</Empty>}
      {data && data.data.length > 0 && (
        <Panel
          note={`List prices in US dollars for a million tokens; “Cached” is the price of cache reads${asOf === undefined ? "" : `, as of ${asOf}`}. A Claude login is not billed at list price, but budgets count list prices.`}
        >
          <figure className="overflow-x-auto" tabIndex={0} aria-label="Models">
            <table className="w-full text-sm">
              <thead>
                <tr className="border-b border-line text-left text-xs text-ink-faint">
                  {COLUMNS.map((name, at) => (
                    <th key={name} scope="col" className={`px-3 py-1.5 font-medium ${at === 0 ? "" : "text-right"}`}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody className="divide-y divide-line">
                {data.data.map((model) => (
                  <ModelRow key={model.id} model={model} />
                ))}
              </tbody>
            </table>
          </figure>
        </Panel>
      )}
    </>
  );
}

function ModelRow({ model: { id, display_name, lifecycle, max_input_tokens, max_tokens, tandem } }: { model: Model }) {
  const { aliases, efforts, price } = tandem;
  return (
    <tr className="align-top">
      <th scope="row" className="w-1/2 min-w-56 px-3 py-2 text-left font-normal">
        <span className="font-medium">{display_name}</span>
        {lifecycle !== "active" && (
          <span className="ml-2">
            <Badge tone={lifecycle === "retired" ? "bad" : "wait"}>{lifecycle}</Badge>
          </span>
        )}
        <span className="block font-mono text-xs text-ink-faint">
          {[id, ...aliases.filter((alias) => alias !== "default")].join(", ")}
        </span>
        {efforts && efforts.length > 0 && (
          <span className="block text-xs text-ink-faint">effort: {efforts.join(", ")}</span>
        )}
      </th>
      <Figure>{max_input_tokens === null ? null : count(max_input_tokens)}</Figure>
      <Figure>{max_tokens === null ? null : count(max_tokens)}</Figure>
      {(["input", "output", "cache_read"] as const).map((rate) => (
        <Figure key={rate}>
          {price && rateFormat.format(price[rate])}
          {price?.long_prompt && (
            <span className="block text-xs text-ink-faint">
              {rateFormat.format(price.long_prompt[rate])} over {count(price.long_prompt.over_tokens)}
            </span>
          )}
        </Figure>
      ))}
    </tr>
  );
}

const Figure = ({ children }: { children: ReactNode }) => (
  <td className="px-3 py-2 text-right whitespace-nowrap tabular-nums">
    {children ?? <span className="text-ink-faint">unknown</span>}
  </td>
);
