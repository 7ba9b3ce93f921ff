import { Field } from "./field.tsx";
import { type Option, Select } from "./select.tsx";

/** A labelled select at full width. */
export function SelectField<Value extends string>({
  label,
  ...rest
}: {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
}) {
  return <Field label={label}>{(ids) => <Select {...ids} className="w-full" {...rest} />}</Field>;
}
