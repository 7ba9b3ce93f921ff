// Replaces System.Text.Json.Nodes on Mono, which lacks it: the members that TandemClient.cs uses, over Mono's System.Json.
using System.Collections;
using System.Collections.Generic;
using System.Linq;

using Value = System.Json.JsonValue;
using Primitive = System.Json.JsonPrimitive;

namespace System.Text.Json.Nodes
{
    public class JsonNode
    {
        internal readonly Value Inner;

        internal JsonNode(Value inner)
        {
            Inner = inner;
        }

        public static JsonNode Parse(string text)
        {
            return Wrap(Value.Parse(text));
        }

        public JsonNode this[string key]
        {
            get { return Inner.ContainsKey(key) ? Wrap(Inner[key]) : null; }
            set { Inner[key] = value == null ? null : value.Inner; }
        }

        public T GetValue<T>()
        {
            object value = typeof(T) == typeof(string) ? (object)(string)Inner
                : typeof(T) == typeof(bool) ? (object)(bool)Inner
                : typeof(T) == typeof(int) ? (object)(int)Inner
                : (long)Inner;
            return (T)value;
        }

        public JsonArray AsArray()
        {
            return new JsonArray(Inner);
        }

        public string ToJsonString()
        {
            return Inner.ToString();
        }

        public static implicit operator JsonNode(string value)
        {
            return value == null ? null : new JsonNode(new Primitive(value));
        }

        public static implicit operator JsonNode(int value)
        {
            return new JsonNode(new Primitive(value));
        }

        public static implicit operator JsonNode(long value)
        {
            return new JsonNode(new Primitive(value));
        }

        public static implicit operator JsonNode(bool value)
        {
            return new JsonNode(new Primitive(value));
        }

        internal static JsonNode Wrap(Value value)
        {
            return value == null ? null : new JsonNode(value);
        }
    }

    public sealed class JsonObject : JsonNode
    {
        public JsonObject() : base(new System.Json.JsonObject())
        {
        }
    }

    public sealed class JsonArray : JsonNode, IEnumerable<JsonNode>
    {
        internal JsonArray(Value inner) : base(inner)
        {
        }

        public JsonArray(params JsonNode[] items) : base(new System.Json.JsonArray(items.Select(item => item.Inner)))
        {
        }

        public IEnumerator<JsonNode> GetEnumerator()
        {
            return ((System.Json.JsonArray)Inner).Select(Wrap).GetEnumerator();
        }

        IEnumerator IEnumerable.GetEnumerator()
        {
            return GetEnumerator();
        }
    }
}
