import { type ComponentProps, type ReactNode, useId } from "react";

/** At least 16 px on touch devices: smaller text makes phones zoom in. */
export const inputClass =
  "w-full rounded-md border border-edge bg-ground px-2.5 py-1.5 text-ink placeholder:text-ink-faint focus:border-accent focus:outline-none focus-visible:ring-2 focus-visible:ring-accent/40 disabled:opacity-50 aria-invalid:border-bad pointer-coarse:min-h-10 pointer-coarse:text-[1rem]";

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  problem?: string | undefined;
  className?: string;
}

/** A label, a hint and a validation error. */
export function Field({
  label,
  hint,
  problem,
  className = "",
  children,
}: FieldProps & {
  children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}) {
  const id = useId();
  const hasWords = hint !== undefined || problem !== undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-ink-soft">
        {label}
      </label>
      {children({
        id,
        ...(hasWords && { "aria-describedby": `${id}-words` }),
        ...(problem !== undefined && { "aria-invalid": true }),
      })}
      {hasWords && (
        <p id={`${id}-words`} className={`mt-1 text-xs ${problem === undefined ? "text-ink-faint" : "text-bad"}`}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

export function TextInput({ className = "", ...rest }: ComponentProps<"input">) {
  return <input className={`${inputClass} ${className}`} autoComplete="off" spellCheck={false} {...rest} />;
}

export function TextArea({ className = "", ...rest }: ComponentProps<"textarea">) {
  return <textarea className={`${inputClass} ${className}`} {...rest} />;
}

type TextProps<Tag extends "input" | "textarea"> = FieldProps &
  Omit<ComponentProps<Tag>, "onChange" | "value"> & {
    value: string;
    onChange: (value: string) => void;
    inputClassName?: string;
  };

export function TextField({ label, hint, problem, className, inputClassName, onChange, ...rest }: TextProps<"input">) {
  return (
    <Field label={label} hint={hint} problem={problem} className={className}>
      {(ids) => (
        <TextInput {...ids} {...rest} className={inputClassName} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  );
}

export function TextAreaField({
  label,
  hint,
  problem,
  className,
  inputClassName,
  onChange,
  ...rest
}: TextProps<"textarea">) {
  return (
    <Field label={label} hint={hint} problem={problem} className={className}>
      {(ids) => (
        <TextArea {...ids} {...rest} className={inputClassName} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  );
}
