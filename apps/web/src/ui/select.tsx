import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { Field, type FieldProps, inputClass } from "./field.tsx";

export interface Option<Value extends string = string> {
  value: Value;
  label: string;
  isDisabled?: boolean;
  /** A dangerous choice, shown in red. */
  isBad?: boolean;
}

/** The native select, which works with every keyboard, screen reader and phone. */
export function Select<Value extends string>({
  options,
  onChange,
  className = "",
  isBare = false,
  ...rest
}: Omit<ComponentProps<"select">, "onChange" | "value"> & {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  /** Without a border, for toolbars. */
  isBare?: boolean;
}) {
  const look = isBare
    ? "field-sizing-content rounded-md bg-transparent py-1 pl-2 text-sm text-ink-soft hover:bg-raised hover:text-ink pointer-coarse:min-h-10"
    : inputClass;
  return (
    <span className={`relative inline-flex min-w-0 items-center ${className}`}>
      <select
        className={`${look} w-full min-w-0 cursor-pointer appearance-none truncate pr-7 ${options.find(({ value }) => value === rest.value)?.isBad === true ? "font-medium text-bad hover:text-bad" : ""}`}
        onChange={({ target }) => {
          const chosen = options[target.selectedIndex];
          if (chosen) onChange(chosen.value);
        }}
        {...rest}
      >
        {options.map(({ value, label, isDisabled = false, isBad = false }) => (
          <option
            key={value}
            value={value}
            disabled={isDisabled}
            className={`bg-surface ${isBad ? "text-bad" : "text-ink"}`}
          >
            {label}
          </option>
        ))}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute right-2 size-3.5 text-ink-faint" />
    </span>
  );
}

/** A labelled select at full width. */
export function SelectField<Value extends string>({
  label,
  hint,
  className,
  ...rest
}: Pick<FieldProps, "label" | "hint" | "className"> & {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
}) {
  return (
    <Field label={label} hint={hint} className={className}>
      {(ids) => <Select {...ids} className="w-full" {...rest} />}
    </Field>
  );
}
