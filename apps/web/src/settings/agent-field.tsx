import { useAgents } from "../api/lists.ts";
import { SelectField } from "../ui/select.tsx";

/** Chooses an agent by its id; "" stands for the choice named `none`. */
export function AgentField({
  none,
  ...rest
}: {
  none: string;
  value: string;
  onChange: (agent: string) => void;
  className?: string;
}) {
  const agents = useAgents();
  const options = (agents.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return <SelectField label="Agent" {...rest} options={[{ value: "", label: none }, ...options]} />;
}
