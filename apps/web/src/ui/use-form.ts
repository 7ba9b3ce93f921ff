import { useState } from "react";

/** The value of one entry of a form, and its change: props of a field. */
export const fieldsOf =
  <Form extends object>(form: Form, set: (part: Partial<Form>) => void) =>
  <Key extends keyof Form>(key: Key): { value: Form[Key]; onChange: (value: Form[Key]) => void } => ({
    value: form[key],
    onChange: (value) => set({ [key]: value } as unknown as Partial<Form>),
  });

/** The entries of a form. */
export function useForm<Form extends object>(initial: Form | (() => Form)) {
  const [form, setForm] = useState(initial);
  const set = (part: Partial<Form>): void => setForm({ ...form, ...part });
  return { form, set, field: fieldsOf(form, set) };
}
