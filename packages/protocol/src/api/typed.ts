import type { z } from "zod";

/**
 * A schema that describes less than the type of its values. For events: the engine writes them and a log may hold those of
 * a newer version, so the schema checks their outline and the type is TypeScript's. The compiler rejects an outline with a
 * field that the type lacks, and a type with a field that a complete outline lacks. A handler may return either.
 */
export const typed =
  <T>() =>
  <Outline extends z.ZodType>(
    outline: Outline & Outlines<z.output<Outline>, T>,
  ): z.ZodType<T, T | z.input<Outline>> => {
    const schema: z.ZodType = outline;
    return schema as z.ZodType<T, T | z.input<Outline>>;
  };

type Primitive = string | number | boolean | null | undefined;
/** The fields that a schema lists: of a loose one, without its index signature. */
type Listed<Output> = Output extends Primitive
  ? Output
  : { [Key in keyof Output as string extends Key ? never : Key]: Output[Key] };
type KeyOf<T> = T extends Primitive ? never : keyof T;
type SharedKeyOf<T> = [T] extends [Primitive] ? never : keyof T;
/** The fields that `T` has and a complete outline lacks. A loose outline leaves some to `T`. */
type Unlisted<Output, T> = string extends KeyOf<Output> ? never : Exclude<KeyOf<T>, KeyOf<Output>>;

/** `unknown` if every value of `T` fits the outline and both name the same fields. */
export type Outlines<Output, T> = [T] extends [Listed<Output>]
  ? [Exclude<SharedKeyOf<Listed<Output>>, KeyOf<T>> | Unlisted<Output, T>] extends [never]
    ? unknown
    : never
  : never;
