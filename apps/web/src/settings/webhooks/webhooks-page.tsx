import type { WebhookEndpointView } from "@tandem/protocol";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ago, formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddButton } from "../add-button.tsx";
import { Badge, Mono, PageHead, Panel, Row, Rows } from "../panel.tsx";
import { Deliveries } from "./deliveries.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { SecretDialog } from "../secret-dialog.tsx";
import { useChange } from "../../api/use-change.ts";

const KEY = ["/v1/organizations/webhooks"];
/** A delivery may fail or succeed at any time. */
const REFRESH_MS = 5_000;

/** Webhook endpoints and their deliveries. */
export default function WebhooksPage() {
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.call("organization.webhooks.list", { query: { limit: 100 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const [edited, setEdited] = useState<WebhookEndpointView | "new">();
  const [secret, setSecret] = useState<string>();
  const [rotated, setRotated] = useState<WebhookEndpointView>();
  const [removed, setRemoved] = useState<WebhookEndpointView>();
  const reload = () => queries.invalidateQueries({ queryKey: KEY });
  const endpoints = list.data?.data;
  return (
    <>
      <PageHead title="Webhooks" action={<AddButton onClick={() => setEdited("new")}>Add endpoint</AddButton>}>
        URLs that receive changes of sessions, agents and other resources. Deliveries are signed and retried for a day.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {endpoints?.length === 0 && (
        <Empty title="No endpoints yet">Add the URL of a program that receives events by HTTP POST.</Empty>
      )}
      {endpoints?.map((endpoint) => (
        <Endpoint
          key={endpoint.id}
          endpoint={endpoint}
          onEdit={() => setEdited(endpoint)}
          onRotate={() => setRotated(endpoint)}
          onRemove={() => setRemoved(endpoint)}
        />
      ))}
      {edited && (
        <EndpointForm
          endpoint={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={(made) => {
            setEdited(undefined);
            setSecret(made);
            void reload();
          }}
        />
      )}
      {secret !== undefined && (
        <SecretDialog
          title="The signing secret"
          note="Copy it now: it is shown only once. The receiver verifies every delivery with it."
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      {rotated && (
        <Confirm
          onClose={() => setRotated(undefined)}
          title="Replace the signing secret?"
          verb="Replace"
          look="primary"
          act={async () => {
            const params = { webhook_endpoint_id: rotated.id };
            setSecret((await api.call("organization.webhooks.regenerateSigningSecret", { params })).signing_secret);
          }}
        >
          For a day, deliveries are signed with both secrets, so that you can change the receiver without a gap.
        </Confirm>
      )}
      {removed && (
        <Confirm
          onClose={() => setRemoved(undefined)}
          title="Remove this endpoint?"
          verb="Remove"
          act={async () => {
            await api.call("organization.webhooks.delete", { params: { webhook_endpoint_id: removed.id } });
            // Only the list: the endpoint's deliveries, if shown, are gone.
            await queries.invalidateQueries({ queryKey: KEY, exact: true });
          }}
        >
          {`${removed.url} gets no more events. Its delivery log is deleted.`}
        </Confirm>
      )}
    </>
  );
}

function Endpoint({
  endpoint,
  onEdit,
  onRotate,
  onRemove,
}: {
  endpoint: WebhookEndpointView;
  onEdit: () => void;
  onRotate: () => void;
  onRemove: () => void;
}) {
  const { id, name, url, state, disabled_reason: reason, enabled_events: events, tandem } = endpoint;
  const params = { webhook_endpoint_id: id };
  const [isOpen, setOpen] = useState(false);
  const test = useChange(KEY, () => api.call("organization.webhooks.test", { params }));
  const turn = useChange(KEY, () =>
    api.call("organization.webhooks.update", {
      params,
      body: { state: state === "enabled" ? "disabled" : "enabled" },
    }),
  );
  const isOwn = tandem.source === "api";
  return (
    <Panel title={name === "" ? new URL(url).host : name}>
      <Rows>
        <Row>
          <div className="min-w-52 flex-1">
            <p className="break-all">
              <Mono>{url}</Mono>
            </p>
            <p className="text-sm text-ink-faint" title={events.join(", ")}>
              {`${events.length} ${events.length === 1 ? "event type" : "event types"}`}
              {!isOwn && " · managed by tandem.yaml"}
              {tandem.pending > 0 && ` · ${tandem.pending} waiting`}
            </p>
          </div>
          <output className="ml-auto flex flex-wrap items-center justify-end gap-2 text-sm text-ink-faint">
            {tandem.last && <span title={formatDateTime(tandem.last.at)}>{ago(tandem.last.at)}</span>}
            {tandem.last && (
              <Badge tone={tandem.last.delivered ? "good" : "bad"}>
                {tandem.last.delivered ? "delivered" : "not delivered"}
              </Badge>
            )}
            <Badge tone={state === "enabled" ? "good" : "plain"}>{state}</Badge>
          </output>
          {reason !== "" && <p className="basis-full text-sm break-words text-bad">{reason}</p>}
          {test.data && !test.data.delivered && (
            <p className="basis-full text-sm break-words text-bad">{`The test failed: ${test.data.detail ?? ""}.`}</p>
          )}
        </Row>
        <Row>
          <Button size="small" disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? "Sending …" : "Send a test"}
          </Button>
          <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide deliveries" : "Show deliveries"}
          </Button>
          <Button size="small" disabled={turn.isPending} onClick={() => turn.mutate()}>
            {state === "enabled" ? "Disable" : "Enable"}
          </Button>
          {isOwn && (
            <>
              <Button size="small" onClick={onEdit}>
                Edit …
              </Button>
              <Button size="small" onClick={onRotate}>
                Replace secret …
              </Button>
              <Button look="quiet" size="small" onClick={onRemove}>
                Remove …
              </Button>
            </>
          )}
          <Problem error={test.error ?? turn.error} className="basis-full" />
        </Row>
        {isOpen && <Deliveries endpoint={id} isEnabled={state === "enabled"} />}
      </Rows>
    </Panel>
  );
}
