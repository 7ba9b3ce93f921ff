import { ArrowDown, ArrowUp, X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/select.tsx";
import type { Question } from "./metric-question.ts";
import { QueryPart } from "./query-part.tsx";

/** The order of the rows: by metrics and fields of the query. */
export function OrderPart({
  question: { metrics, by, order },
  onChange,
}: {
  question: Question;
  onChange: (part: Partial<Question>) => void;
}) {
  const ordered = order.filter(({ field }) => metrics.includes(field) || by.includes(field));
  const left = [...metrics, ...by].filter((name) => !ordered.some(({ field }) => field === name));
  return (
    <QueryPart title="Order">
      {ordered.length > 0 && (
        <ul className="mb-2 space-y-1">
          {ordered.map(({ field, descending }, at) => (
            <li key={field} className="flex min-h-8 items-center gap-1 rounded-md bg-raised pl-2 text-sm">
              <span className="min-w-0 flex-1 wrap-anywhere">{field}</span>
              <Button
                look="quiet"
                size="small"
                aria-label={`${field}: ${descending ? "largest first" : "smallest first"}`}
                onClick={() => onChange({ order: ordered.with(at, { field, descending: !descending }) })}
              >
                {descending ? (
                  <ArrowDown aria-hidden className="size-3.5" />
                ) : (
                  <ArrowUp aria-hidden className="size-3.5" />
                )}
                {descending ? "Largest first" : "Smallest first"}
              </Button>
              <Button
                look="quiet"
                size="icon"
                aria-label={`Remove the order by ${field}`}
                onClick={() => onChange({ order: ordered.toSpliced(at, 1) })}
              >
                <X aria-hidden className="size-3.5" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Select
        aria-label="Order by"
        className="w-full"
        disabled={left.length === 0}
        value=""
        onChange={(field) =>
          field !== "" && onChange({ order: [...ordered, { field, descending: metrics.includes(field) }] })
        }
        options={[{ value: "", label: "Order by" }, ...left.map((name) => ({ value: name, label: name }))]}
      />
    </QueryPart>
  );
}
