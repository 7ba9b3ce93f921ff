import { z } from "zod";

// Most of the schemas of a package are never used by a process, and each takes 2 kB and 10 µs. These schemas remember how
// they are built, and are built when they are used.

/** Reads the built schema. */
const BUILT = Symbol("built schema");

/** Methods that return another schema and read nothing. All others build the schema first. */
const DEFERRED: ReadonlySet<PropertyKey> = new Set(
  `array brand catch default describe exactOptional extend gt gte int length loose lowercase lt lte max meta min nonempty
  nonnegative nullable nullish omit optional or partial pick pipe positive prefault readonly refine regex startsWith strict
  superRefine toLowerCase transform trim url`.split(/\s+/),
);

type Factory = (...args: never[]) => object;

const OBJECTS: ReadonlySet<Factory> = new Set<Factory>([z.object, z.strictObject, z.looseObject]);

/** The same function, whose schema is built when it is used. */
export const lazily = <F extends Factory>(factory: F): F =>
  ((...args: unknown[]) => new Proxy(NOTHING, new LazySchema(factory, args))) as unknown as F;

/** The same function for one that reads schemas. */
export const eagerly = <F extends (...args: never[]) => unknown>(read: F): F =>
  ((...args: unknown[]) => read(...(args.map((arg) => built(arg)) as never[]))) as unknown as F;

const NOTHING = {};

class LazySchema implements ProxyHandler<object> {
  /** The factory, or the name of a method of the schema that is the first argument. */
  #make: Factory | PropertyKey;
  #args: readonly unknown[];
  #schema: object | undefined;

  constructor(make: Factory | PropertyKey, args: readonly unknown[]) {
    this.#make = make;
    this.#args = args;
  }

  get(_: object, key: PropertyKey, self: object): unknown {
    // Also if it is built: a built result would take lazy arguments of its next method as they are.
    if (DEFERRED.has(key)) {
      return (...args: unknown[]): unknown =>
        // `meta()` reads.
        args.length === 0 && key === "meta"
          ? call(this.#build(), key, args)
          : new Proxy(NOTHING, new LazySchema(key, [self, ...args]));
    }
    if (key === "shape" && this.#schema === undefined) {
      const shape = this.#givenShape();
      if (shape !== undefined) return shape;
    }
    const schema = this.#build();
    if (key === BUILT) return schema;
    const value: unknown = Reflect.get(schema, key, schema);
    return typeof value === "function" && key !== "constructor" ? (value.bind(schema) as unknown) : value;
  }

  set(_: object, key: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.#build(), key, value);
  }

  has(_: object, key: PropertyKey): boolean {
    return Reflect.has(this.#build(), key);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.#build());
  }

  getPrototypeOf(): object | null {
    return Reflect.getPrototypeOf(this.#build());
  }

  getOwnPropertyDescriptor(_: object, key: PropertyKey): PropertyDescriptor | undefined {
    const found = Reflect.getOwnPropertyDescriptor(this.#build(), key);
    // A proxy may not name fixed properties that its target lacks.
    return found && { ...found, configurable: true };
  }

  /** Schemas that take fields of another one need not build it. */
  #givenShape(): unknown {
    if (typeof this.#make === "function") return OBJECTS.has(this.#make) ? this.#args[0] : undefined;
    return this.#make === "meta" ? Reflect.get(this.#args[0] as object, "shape") : undefined;
  }

  #build(): object {
    if (this.#schema === undefined) {
      const args = this.#args.map((arg) => built(arg));
      this.#schema =
        typeof this.#make === "function"
          ? this.#make(...(args as never[]))
          : (call(args[0] as object, this.#make, args.slice(1)) as object);
      this.#args = [];
    }
    return this.#schema;
  }
}

const call = (schema: object, method: PropertyKey, args: unknown[]): unknown =>
  (Reflect.get(schema, method) as (...args: unknown[]) => unknown).apply(schema, args);

/** With every schema in it built: zod finds the description of a schema by its identity. */
export function built<T>(value: T): T;
export function built(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(builtSchema);
  return Object.getPrototypeOf(value) === Object.prototype ? builtShape(value) : builtSchema(value);
}

const builtSchema = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? (Reflect.get(value, BUILT) ?? value) : value;

/** A getter stays one: its schema may refer to the shape. */
function builtShape(shape: object): object {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(shape)).map(([key, { value, ...descriptor }]) => [
    key,
    descriptor.get
      ? { ...descriptor, get: () => builtSchema(Reflect.get(shape, key)) }
      : { ...descriptor, value: builtSchema(value) },
  ]);
  return Object.defineProperties({}, Object.fromEntries(properties) as PropertyDescriptorMap);
}
