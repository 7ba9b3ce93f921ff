/**
 * Every setting is marked in the JSON Schema, at its key or at its section. A setting needs trust if it decides who pays, which
 * calls and changes a person reviews, which programs run, or where data goes. Every other setting says why it is harmless. A
 * test fails on a setting without a mark.
 */
export const NEEDS_TRUST = "x-needs-trust";
/** The reason why a setting of an untrusted folder may take effect. */
export const HARMLESS = "x-harmless";
/** Values of a setting with `NEEDS_TRUST` that need none. The default needs none either. */
export const HARMLESS_VALUES = "x-harmless-values";

export const needsTrust = (...harmlessValues: string[]) => ({
  [NEEDS_TRUST]: true,
  ...(harmlessValues.length > 0 && { [HARMLESS_VALUES]: harmlessValues }),
});

export const harmless = (reason: string) => ({ [HARMLESS]: reason });
