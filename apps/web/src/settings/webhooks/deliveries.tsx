import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { ago, formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Mono, Row, type Tone } from "../panel.tsx";

const TONES: Readonly<Record<string, Tone>> = { delivered: "good", failed: "bad", dropped: "bad" };
const REFRESH_MS = 3_000;

/** The newest deliveries to an endpoint. */
export function Deliveries({ endpoint, isEnabled }: { endpoint: string; isEnabled: boolean }) {
  const queries = useQueryClient();
  const queryKey = ["/v1/organizations/webhooks", endpoint, "deliveries"];
  const params = { webhook_endpoint_id: endpoint };
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      api.call("organization.webhooks.deliveries.list", { params, query: { limit: 50 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const resend = useMutation({
    mutationFn: (id: string) =>
      api.call("organization.webhooks.deliveries.resend", { params: { ...params, delivery_id: id } }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const deliveries = list.data?.data;
  return (
    <>
      {(list.error ?? resend.error) && (
        <Row>
          <Problem error={list.error ?? resend.error} className="basis-full" />
        </Row>
      )}
      {deliveries?.length === 0 && (
        <Row>
          <p className="text-ink-faint">No deliveries yet.</p>
        </Row>
      )}
      {deliveries?.map(({ id, type, resource_id: resource, state, attempts, last_at: at, next_at: next, detail }) => (
        <Row key={id}>
          <div className="min-w-52 flex-1">
            <p>{type}</p>
            <p className="text-sm break-all text-ink-faint">
              <Mono>{resource}</Mono>
            </p>
          </div>
          <span className="text-sm text-ink-faint" title={formatDateTime(at)}>
            {`${ago(at)} · ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`}
          </span>
          <Badge tone={TONES[state] ?? "plain"}>{state}</Badge>
          <Button
            size="small"
            look="quiet"
            disabled={!isEnabled || resend.isPending}
            aria-label={`Resend ${type} for ${resource}`}
            onClick={() => resend.mutate(id)}
          >
            Resend
          </Button>
          {detail !== null && (
            <p className="basis-full text-sm break-words text-ink-soft">
              {detail}
              {next !== null && ` · next attempt ${formatDateTime(next)}`}
            </p>
          )}
        </Row>
      ))}
    </>
  );
}
