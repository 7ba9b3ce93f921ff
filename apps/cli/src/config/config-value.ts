/** What a setting may hold. */
export type ConfigValue = string | number | boolean | readonly string[];

const isList = (value: ConfigValue): value is readonly string[] => Array.isArray(value);

/** As one would write it in the file. */
export const shownValue = (value: ConfigValue): string => (isList(value) ? `[${value.join(", ")}]` : String(value));

/** Equal for equal values and for no others: `["a,b"]` is not `["a", "b"]`. */
export const identityOf = (value: ConfigValue): string => (isList(value) ? JSON.stringify(value) : String(value));
