// Runs turns with an approval, a denial, a failed request and concurrent requests; prints one line for each.
// Usage: Sample.exe PROGRAM ARGUMENT..., the command that starts Tandem.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json.Nodes;
using System.Threading.Tasks;
using Tandem;

public static class Sample
{
    public static int Main(string[] command)
    {
        RunAsync(command).GetAwaiter().GetResult();
        return 0;
    }

    private static async Task RunAsync(string[] command)
    {
        using (var tandem = await TandemClient.StartAsync(new TandemOptions
        {
            Command = command,
            Name = "sample/1.0",
            Environment = new Dictionary<string, string> { ["SESSION_KEY"] = "sk-ant-made-up", ["UNWANTED"] = null },
        }))
        {
            Console.WriteLine("protocol " + tandem.Hello["protocol"].GetValue<int>());
            var tools = new JsonArray(new JsonObject { ["type"] = "agent_toolset_20260401" });
            var agent = await tandem.CallAsync(
                "agents.create", new JsonObject { ["name"] = "Helper", ["model"] = "sonnet", ["tools"] = tools });
            var created = await tandem.CallAsync(
                "sessions.create",
                new JsonObject { ["agent"] = agent["id"].GetValue<string>(), ["environment_id"] = "env_local" });
            var session = created["id"].GetValue<string>();
            await TurnAsync(tandem, session, "Write allowed.txt", true);
            await TurnAsync(tandem, session, "Write denied.txt", false);
            await TurnAsync(tandem, session, "Ask me", false);

            var lists = await Task.WhenAll(Enumerable.Range(0, 30).Select(i => tandem.CallAsync("agents.list")));
            Console.WriteLine("lists " + lists.Count(list => list["data"] != null));
            try
            {
                await tandem.CallAsync("sessions.retrieve", new JsonObject { ["session_id"] = "sesn_none" });
            }
            catch (TandemException error)
            {
                Console.WriteLine("error " + error.Type + " " + error.Status);
            }
        }
        Console.WriteLine("closed");
    }

    private static async Task TurnAsync(TandemClient tandem, string session, string text, bool isAllowed)
    {
        var last = "";
        await tandem.TurnAsync(
            session,
            text,
            message =>
            {
                var said = SessionEvent.From(message) as AgentMessage;
                if (said != null) last = said.Text;
            },
            call => Task.FromResult(isAllowed),
            answer: question => Task.FromResult<IReadOnlyDictionary<string, string>>(
                question.Items.ToDictionary(item => item.Text, item => item.Options[1])));
        Console.WriteLine(last);
    }
}
