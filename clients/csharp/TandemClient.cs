// Never run on .NET; scripts/clients.extended.test.ts runs it on Mono.
// A client of `tandem stdio`: one file, .NET 8 or later, nothing but the base library.
//
//     using var tandem = await TandemClient.StartAsync(new TandemOptions { Project = "/src/shop" });
//     var agent = await tandem.CallAsync("agents.create", new JsonObject { ["name"] = "Helper", ["model"] = "sonnet" });
//
// Methods and their params are those of `tandem stdio`'s reference. Safe to use from several threads.

#nullable disable

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Text;
using System.Text.Json.Nodes;
using System.Threading;
using System.Threading.Tasks;

namespace Tandem
{
    /// <summary>A request was refused, or Tandem is gone (type "gone").</summary>
    public sealed class TandemException : Exception
    {
        public TandemException(string type, int status, string message, string requestId = null) : base(message)
        {
            Type = type;
            Status = status;
            RequestId = requestId;
        }

        /// <summary>As over HTTP, such as "not_found_error".</summary>
        public string Type { get; }

        /// <summary>As over HTTP, such as 404.</summary>
        public int Status { get; }

        /// <summary>Under which Tandem's log has more.</summary>
        public string RequestId { get; }

        internal static TandemException Gone()
        {
            return new TandemException("gone", 503, "Tandem has ended.");
        }

        internal static TandemException From(JsonNode error)
        {
            return new TandemException(
                Text(error["type"]) ?? "api_error",
                error["status"] == null ? 500 : error["status"].GetValue<int>(),
                Text(error["message"]) ?? "",
                Text(error["request_id"]));
        }

        private static string Text(JsonNode node)
        {
            return node == null ? null : node.GetValue<string>();
        }
    }

    public sealed class TandemOptions
    {
        /// <summary>The program and the arguments by which Tandem is started, before its own.</summary>
        public IReadOnlyList<string> Command { get; set; } = new[] { "tandem" };

        /// <summary>The project's folder; without it, the nearest one above WorkingDirectory with a tandem.yaml.</summary>
        public string Project { get; set; }

        public string WorkingDirectory { get; set; }

        /// <summary>The name and version of this program, for the log: "shop/2.1".</summary>
        public string Name { get; set; }

        /// <summary>Variables for Tandem, beside those of this program. A null value removes one.</summary>
        public IReadOnlyDictionary<string, string> Environment { get; set; }
    }

    /// <summary>An event of a session. From returns one of its subclasses if the type is known.</summary>
    public class SessionEvent
    {
        internal SessionEvent(JsonNode json)
        {
            Json = json;
        }

        /// <summary>The whole event, with fields that have no property here.</summary>
        public JsonNode Json { get; }

        public string Id
        {
            get { return TextOf(Json["id"]); }
        }

        public string Type
        {
            get { return TextOf(Json["type"]); }
        }

        public static SessionEvent From(JsonNode json)
        {
            switch (TextOf(json["type"]))
            {
                case "agent.message":
                    return new AgentMessage(json);
                case "agent.tool_use":
                case "agent.mcp_tool_use":
                    return new ToolUse(json);
                case "agent.custom_tool_use":
                    return TextOf(json["name"]) == Question.Tool ? (SessionEvent)new Question(json) : new ToolUse(json);
                case "session.status_idle":
                    return new SessionIdle(json);
                case "session.error":
                    return new SessionError(json);
                default:
                    return new SessionEvent(json);
            }
        }

        internal static string TextOf(JsonNode node)
        {
            return node == null ? null : node.GetValue<string>();
        }
    }

    /// <summary>Text of the agent.</summary>
    public sealed class AgentMessage : SessionEvent
    {
        internal AgentMessage(JsonNode json) : base(json)
        {
        }

        public string Text
        {
            get
            {
                var text = new StringBuilder();
                foreach (var block in Json["content"].AsArray()) text.Append(TextOf(block["text"]));
                return text.ToString();
            }
        }
    }

    /// <summary>A tool call of the agent.</summary>
    public sealed class ToolUse : SessionEvent
    {
        internal ToolUse(JsonNode json) : base(json)
        {
        }

        public string Name
        {
            get { return TextOf(Json["name"]); }
        }

        public JsonNode Input
        {
            get { return Json["input"]; }
        }

        /// <summary>Whether the call waits for a person.</summary>
        public bool NeedsApproval
        {
            get { return TextOf(Json["evaluated_permission"]) == "ask"; }
        }
    }

    /// <summary>One to four questions of the agent, with options.</summary>
    public sealed class Question : SessionEvent
    {
        internal const string Tool = "ask_user_question";

        internal Question(JsonNode json) : base(json)
        {
            var items = new List<QuestionItem>();
            foreach (var item in json["input"]["questions"].AsArray()) items.Add(new QuestionItem(item));
            Items = items;
        }

        public IReadOnlyList<QuestionItem> Items { get; }
    }

    public sealed class QuestionItem
    {
        internal QuestionItem(JsonNode json)
        {
            Text = SessionEvent.TextOf(json["question"]);
            var options = new List<string>();
            foreach (var option in json["options"].AsArray()) options.Add(SessionEvent.TextOf(option["label"]));
            Options = options;
        }

        public string Text { get; }

        /// <summary>The labels to choose from. Other text is an answer too.</summary>
        public IReadOnlyList<string> Options { get; }
    }

    /// <summary>The agent has stopped.</summary>
    public sealed class SessionIdle : SessionEvent
    {
        internal SessionIdle(JsonNode json) : base(json)
        {
        }

        /// <summary>"end_turn", "requires_action" or another reason.</summary>
        public string StopReason
        {
            get { return TextOf(Json["stop_reason"]["type"]); }
        }
    }

    /// <summary>A turn failed.</summary>
    public sealed class SessionError : SessionEvent
    {
        internal SessionError(JsonNode json) : base(json)
        {
        }

        public string Message
        {
            get { return TextOf(Json["error"]["message"]); }
        }
    }

    /// <summary>One event of a stream.</summary>
    public sealed class StreamItem
    {
        internal StreamItem(string cursor, JsonNode @event)
        {
            Cursor = cursor;
            Event = @event;
        }

        /// <summary>Where to go on: given as "after". Previews have none.</summary>
        public string Cursor { get; }

        public JsonNode Event { get; }

        /// <summary>The event as one of the subclasses of SessionEvent.</summary>
        public SessionEvent Typed
        {
            get { return SessionEvent.From(Event); }
        }

        public string Type
        {
            get { return Event["type"].GetValue<string>(); }
        }
    }

    /// <summary>Events as they happen. Dispose of it to end it.</summary>
    public sealed class TandemStream : IDisposable
    {
        private readonly TandemClient _client;
        private readonly Queue<StreamItem> _waiting = new Queue<StreamItem>();
        private TaskCompletionSource<bool> _news = TandemClient.NewSource<bool>();
        private TandemException _error;
        private bool _isOver;

        internal TandemStream(TandemClient client, long id)
        {
            _client = client;
            Id = id;
        }

        internal long Id { get; }

        /// <summary>The next event; null when the stream has come to its end. One reader at a time.</summary>
        public async Task<StreamItem> NextAsync(CancellationToken cancel = default(CancellationToken))
        {
            for (;;)
            {
                Task news;
                lock (_waiting)
                {
                    if (_waiting.Count > 0)
                    {
                        var item = _waiting.Dequeue();
                        if (_waiting.Count < TandemClient.MostWaiting) _client.ReadOn();
                        return item;
                    }
                    if (_error != null) throw _error;
                    if (_isOver) return null;
                    news = _news.Task;
                }
                await TandemClient.OrCancelled(news, cancel).ConfigureAwait(false);
            }
        }

        /// <summary>Ends it; what is on the way is dropped.</summary>
        public void Dispose()
        {
            bool isOpen;
            lock (_waiting)
            {
                isOpen = !_isOver;
                _isOver = true;
                _waiting.Clear();
                Wake();
            }
            _client.Forget(this, isOpen);
        }

        internal bool IsFull
        {
            get { lock (_waiting) return !_isOver && _waiting.Count >= TandemClient.MostWaiting; }
        }

        internal void Add(StreamItem item)
        {
            lock (_waiting)
            {
                if (_isOver) return;
                _waiting.Enqueue(item);
                Wake();
            }
        }

        internal void End(TandemException error)
        {
            lock (_waiting)
            {
                if (_isOver) return;
                _isOver = true;
                _error = error;
                Wake();
            }
        }

        private void Wake()
        {
            var news = _news;
            _news = TandemClient.NewSource<bool>();
            news.TrySetResult(true);
        }
    }

    /// <summary>A Tandem of one's own, for as long as it is not disposed of.</summary>
    public sealed class TandemClient : IDisposable
    {
        /// <summary>Size of the buffer of a slowly read stream before backpressure on Tandem.</summary>
        internal const int MostWaiting = 1000;

        private const int Protocol = 1;
        private const int StartMilliseconds = 60000;
        private const int CloseMilliseconds = 20000;

        private readonly Process _process;
        private readonly StreamReader _output;
        private readonly Stream _input;
        private readonly SemaphoreSlim _writing = new SemaphoreSlim(1, 1);
        private readonly object _lock = new object();
        private readonly Dictionary<long, TaskCompletionSource<JsonNode>> _pending =
            new Dictionary<long, TaskCompletionSource<JsonNode>>();
        private readonly Dictionary<long, TandemStream> _streams = new Dictionary<long, TandemStream>();
        private TaskCompletionSource<bool> _room = NewSource<bool>();
        private Task _reading = Task.CompletedTask;
        private long _lastId;
        private bool _isGone;
        private bool _isClosing;

        private TandemClient(Process process)
        {
            _process = process;
            // Without a byte order mark, which would be part of the first line.
            var utf8 = new UTF8Encoding(false);
            _output = new StreamReader(process.StandardOutput.BaseStream, utf8);
            _input = process.StandardInput.BaseStream;
        }

        /// <summary>What Tandem is and can do: version, engine, capabilities, limits.</summary>
        public JsonNode Hello { get; private set; }

        /// <summary>Starts Tandem and agrees on the protocol.</summary>
        public static async Task<TandemClient> StartAsync(TandemOptions options = null)
        {
            options = options ?? new TandemOptions();
            var arguments = new List<string>();
            for (var i = 1; i < options.Command.Count; i++) arguments.Add(options.Command[i]);
            if (options.Project != null) arguments.AddRange(new[] { "--project", options.Project });
            arguments.Add("stdio");
            var start = new ProcessStartInfo
            {
                FileName = options.Command[0],
                Arguments = string.Join(" ", arguments.ConvertAll(Quoted)),
                WorkingDirectory = options.WorkingDirectory ?? "",
                UseShellExecute = false,
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
            };
            if (options.Environment != null)
            {
                foreach (var variable in options.Environment)
                {
                    if (variable.Value == null) start.EnvironmentVariables.Remove(variable.Key);
                    else start.EnvironmentVariables[variable.Key] = variable.Value;
                }
            }
            var client = new TandemClient(Process.Start(start));
            try
            {
                await client.GreetAsync(options.Name).ConfigureAwait(false);
                return client;
            }
            catch
            {
                client.Kill();
                client.Dispose();
                throw;
            }
        }

        /// <summary>One request, and its result. A token that is cancelled leaves what was done as it is.</summary>
        public async Task<JsonNode> CallAsync(
            string method, JsonObject parameters = null, CancellationToken cancel = default(CancellationToken))
        {
            cancel.ThrowIfCancellationRequested();
            var request = Prepare(false);
            await SendAsync(request.Key, method, parameters).ConfigureAwait(false);
            using (cancel.Register(() => CancelLater(request.Key)))
            {
                return await request.Value.Task.ConfigureAwait(false);
            }
        }

        /// <summary>Opens a stream; what happens from then on is in it.</summary>
        public async Task<TandemStream> StreamAsync(string method, JsonObject parameters = null)
        {
            var request = Prepare(true);
            TandemStream stream;
            lock (_lock) stream = _streams[request.Key];
            try
            {
                await SendAsync(request.Key, method, parameters).ConfigureAwait(false);
                await request.Value.Task.ConfigureAwait(false);
                return stream;
            }
            catch
            {
                Forget(stream, false);
                throw;
            }
        }

        /// <summary>
        /// Sends a message to a session, passes its events to <paramref name="onEvent"/>, and returns when the turn ends.
        /// <paramref name="approve"/> decides about each call that needs a person: true allows it. Without it, all such
        /// calls are denied. <paramref name="answer"/> returns the answers by question. Without it, or if it returns null,
        /// questions are declined. SessionEvent.From gives events a type.
        /// </summary>
        public async Task TurnAsync(
            string session,
            string text,
            Action<JsonNode> onEvent,
            Func<JsonNode, Task<bool>> approve = null,
            CancellationToken cancel = default(CancellationToken),
            Func<Question, Task<IReadOnlyDictionary<string, string>>> answer = null)
        {
            var calls = new Dictionary<string, JsonNode>();
            using (var stream = await StreamAsync("sessions.events.stream", new JsonObject { ["session_id"] = session, ["tandem"] = true })
                .ConfigureAwait(false))
            {
                var content = new JsonArray(new JsonObject { ["type"] = "text", ["text"] = text });
                var message = new JsonObject { ["type"] = "user.message", ["content"] = content };
                await SendEventAsync(session, message).ConfigureAwait(false);
                for (;;)
                {
                    var item = await stream.NextAsync(cancel).ConfigureAwait(false);
                    if (item == null) return;
                    if (item.Cursor == null) continue;
                    var id = item.Event["id"].GetValue<string>();
                    if (item.Event["evaluated_permission"] != null || IsQuestion(item.Event)) calls[id] = item.Event;
                    onEvent(item.Event);
                    if (item.Type != "session.status_idle") continue;
                    var reason = item.Event["stop_reason"];
                    if (reason["type"].GetValue<string>() != "requires_action") return;
                    foreach (var waiting in reason["event_ids"].AsArray())
                    {
                        JsonNode call;
                        var callId = waiting.GetValue<string>();
                        if (!calls.TryGetValue(callId, out call)) continue;
                        calls.Remove(callId);
                        if (IsQuestion(call))
                        {
                            var answers = answer == null
                                ? null
                                : await answer((Question)SessionEvent.From(call)).ConfigureAwait(false);
                            if (answers == null) await DeclineAsync(session, callId).ConfigureAwait(false);
                            else await AnswerQuestionAsync(session, callId, answers).ConfigureAwait(false);
                            continue;
                        }
                        var isAllowed = approve != null && await approve(call).ConfigureAwait(false);
                        await AnswerAsync(session, callId, isAllowed).ConfigureAwait(false);
                    }
                }
            }
        }

        /// <summary>Answers a call that waits for a person; the agent sees the reason of a denial.</summary>
        public Task AnswerAsync(string session, string toolUseId, bool isAllowed, string reason = null)
        {
            var confirmation = new JsonObject
            {
                ["type"] = "user.tool_confirmation",
                ["tool_use_id"] = toolUseId,
                ["result"] = isAllowed ? "allow" : "deny",
            };
            if (!isAllowed && reason != null) confirmation["deny_message"] = reason;
            return SendEventAsync(session, confirmation);
        }

        /// <summary>Answers a question of the agent: one answer for each question, by its text.</summary>
        public Task AnswerQuestionAsync(string session, string questionId, IReadOnlyDictionary<string, string> answers)
        {
            var chosen = new JsonObject();
            foreach (var each in answers) chosen[each.Key] = each.Value;
            var text = new JsonObject { ["answers"] = chosen }.ToJsonString();
            return SendEventAsync(session, new JsonObject
            {
                ["type"] = "user.custom_tool_result",
                ["custom_tool_use_id"] = questionId,
                ["content"] = new JsonArray(new JsonObject { ["type"] = "text", ["text"] = text }),
            });
        }

        /// <summary>Closes Tandem's input, lets it end what it has under way, and sees to it that it is gone.</summary>
        public void Dispose()
        {
            lock (_lock)
            {
                if (_isClosing) return;
                _isClosing = true;
            }
            ReadOn();
            try
            {
                _input.Dispose();
            }
            catch (IOException)
            {
                // Gone already.
            }
            if (!_process.WaitForExit(CloseMilliseconds)) Kill();
            _process.WaitForExit(CloseMilliseconds);
            _reading.Wait(CloseMilliseconds);
            _output.Dispose();
            _process.Dispose();
        }

        internal static TaskCompletionSource<T> NewSource<T>()
        {
            return new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        internal static async Task OrCancelled(Task task, CancellationToken cancel)
        {
            if (!cancel.CanBeCanceled)
            {
                await task.ConfigureAwait(false);
                return;
            }
            var cancelled = NewSource<bool>();
            using (cancel.Register(() => cancelled.TrySetCanceled()))
            {
                await (await Task.WhenAny(task, cancelled.Task).ConfigureAwait(false)).ConfigureAwait(false);
            }
        }

        /// <summary>A reader made progress, or a request waits: the reader loop may continue.</summary>
        internal void ReadOn()
        {
            TaskCompletionSource<bool> room;
            lock (_lock)
            {
                room = _room;
                _room = NewSource<bool>();
            }
            room.TrySetResult(true);
        }

        internal void Forget(TandemStream stream, bool isOpen)
        {
            bool canCancel;
            lock (_lock)
            {
                _streams.Remove(stream.Id);
                canCancel = isOpen && !_isGone && !_isClosing;
            }
            ReadOn();
            if (canCancel) CancelLater(stream.Id);
        }

        private async Task GreetAsync(string name)
        {
            var first = _output.ReadLineAsync();
            if (await Task.WhenAny(first, Task.Delay(StartMilliseconds)).ConfigureAwait(false) != first)
            {
                throw new TandemException("gone", 503, "Tandem did not say hello in time.");
            }
            var text = await first.ConfigureAwait(false);
            if (text == null) throw TandemException.Gone();
            var line = JsonNode.Parse(text);
            if (line["hello"] == null) throw TandemException.From(line["error"]);
            Hello = line["hello"];
            _reading = Task.Run(ReadAsync);
            var parameters = new JsonObject { ["protocol"] = Protocol };
            if (name != null) parameters["client"] = name;
            await CallAsync("hello", parameters).ConfigureAwait(false);
        }

        private static bool IsQuestion(JsonNode @event)
        {
            return @event["type"].GetValue<string>() == "agent.custom_tool_use"
                && @event["name"].GetValue<string>() == "ask_user_question";
        }

        private Task DeclineAsync(string session, string questionId)
        {
            return SendEventAsync(session, new JsonObject
            {
                ["type"] = "user.custom_tool_result",
                ["custom_tool_use_id"] = questionId,
                ["is_error"] = true,
                ["content"] = new JsonArray(new JsonObject { ["type"] = "text", ["text"] = "The program answers no questions." }),
            });
        }

        private Task<JsonNode> SendEventAsync(string session, JsonObject @event)
        {
            var parameters = new JsonObject { ["session_id"] = session, ["events"] = new JsonArray(@event) };
            return CallAsync("sessions.events.send", parameters);
        }

        private KeyValuePair<long, TaskCompletionSource<JsonNode>> Prepare(bool isStream)
        {
            lock (_lock)
            {
                if (_isGone || _isClosing) throw TandemException.Gone();
                var id = ++_lastId;
                var answer = NewSource<JsonNode>();
                _pending[id] = answer;
                if (isStream) _streams[id] = new TandemStream(this, id);
                return new KeyValuePair<long, TaskCompletionSource<JsonNode>>(id, answer);
            }
        }

        private async Task SendAsync(long id, string method, JsonObject parameters)
        {
            byte[] bytes;
            try
            {
                var line = new JsonObject { ["id"] = id, ["method"] = method, ["params"] = parameters ?? new JsonObject() };
                bytes = Encoding.UTF8.GetBytes(line.ToJsonString() + "\n");
            }
            catch
            {
                // Params that are part of something else already, for instance: no caller waits for an answer to them.
                lock (_lock) _pending.Remove(id);
                throw;
            }
            // A pending request must get its answer even if a stream is not being read.
            ReadOn();
            await _writing.WaitAsync().ConfigureAwait(false);
            try
            {
                await _input.WriteAsync(bytes, 0, bytes.Length).ConfigureAwait(false);
                await _input.FlushAsync().ConfigureAwait(false);
            }
            catch (Exception error) when (error is IOException || error is ObjectDisposedException)
            {
                lock (_lock) _pending.Remove(id);
                throw TandemException.Gone();
            }
            finally
            {
                _writing.Release();
            }
        }

        /// <summary>Fire and forget: the cancelled request itself reports the outcome.</summary>
        private void CancelLater(long id)
        {
            CallAsync("cancel", new JsonObject { ["id"] = id })
                .ContinueWith(done => done.Exception, TaskContinuationOptions.OnlyOnFaulted);
        }

        private async Task ReadAsync()
        {
            try
            {
                for (var text = await _output.ReadLineAsync().ConfigureAwait(false);
                    text != null;
                    text = await _output.ReadLineAsync().ConfigureAwait(false))
                {
                    Receive(JsonNode.Parse(text));
                    await RoomAsync().ConfigureAwait(false);
                }
            }
            catch (Exception)
            {
                // As if it had ended. A Tandem that was killed may have broken off within a line, which is no JSON then.
            }
            Lose();
        }

        /// <summary>Backpressure: waits while a stream is read too slowly, unless a request is pending, whose answer comes later.</summary>
        private async Task RoomAsync()
        {
            for (;;)
            {
                Task room;
                lock (_lock)
                {
                    var mustWait = false;
                    if (!_isClosing && _pending.Count == 0)
                    {
                        foreach (var stream in _streams.Values) mustWait = mustWait || stream.IsFull;
                    }
                    if (!mustWait) return;
                    room = _room.Task;
                }
                await room.ConfigureAwait(false);
            }
        }

        private void Receive(JsonNode line)
        {
            if (line["stream"] != null)
            {
                Tell(line["stream"].GetValue<long>(), line);
                return;
            }
            if (line["id"] == null) return;
            TaskCompletionSource<JsonNode> waiting;
            lock (_lock)
            {
                var id = line["id"].GetValue<long>();
                if (!_pending.TryGetValue(id, out waiting)) return;
                _pending.Remove(id);
            }
            if (line["error"] != null) waiting.TrySetException(TandemException.From(line["error"]));
            else waiting.TrySetResult(line["result"]);
        }

        private void Tell(long id, JsonNode line)
        {
            TandemStream stream;
            var end = line["end"];
            lock (_lock)
            {
                if (!_streams.TryGetValue(id, out stream)) return;
                if (end != null) _streams.Remove(id);
            }
            if (end != null)
            {
                stream.End(end["error"] == null ? null : TandemException.From(end["error"]));
                return;
            }
            var cursor = line["cursor"];
            stream.Add(new StreamItem(cursor == null ? null : cursor.GetValue<string>(), line["event"]));
        }

        private void Lose()
        {
            List<TaskCompletionSource<JsonNode>> waiting;
            List<TandemStream> streams;
            bool isExpected;
            lock (_lock)
            {
                _isGone = true;
                isExpected = _isClosing;
                waiting = new List<TaskCompletionSource<JsonNode>>(_pending.Values);
                streams = new List<TandemStream>(_streams.Values);
                _pending.Clear();
                _streams.Clear();
            }
            foreach (var answer in waiting) answer.TrySetException(TandemException.Gone());
            foreach (var stream in streams) stream.End(isExpected ? null : TandemException.Gone());
        }

        private void Kill()
        {
            try
            {
                _process.Kill();
            }
            catch (InvalidOperationException)
            {
                // Ended by itself meanwhile.
            }
        }

        /// <summary>As the runtime splits it again on every system.</summary>
        private static string Quoted(string argument)
        {
            var quoted = new StringBuilder("\"");
            var backslashes = 0;
            foreach (var character in argument)
            {
                if (character == '\\')
                {
                    backslashes++;
                    continue;
                }
                quoted.Append('\\', character == '"' ? backslashes * 2 + 1 : backslashes).Append(character);
                backslashes = 0;
            }
            return quoted.Append('\\', backslashes * 2).Append('"').ToString();
        }
    }
}
