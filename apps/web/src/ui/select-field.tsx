import { Field } from "./field.tsx";
import { type Option, Select } from "./select.tsx";

/** A labelled select at full width. */
export function SelectField({
  label,
  ...rest
}: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  return <Field label={label}>{(ids) => <Select {...ids} className="w-full" {...rest} />}</Field>;
}
