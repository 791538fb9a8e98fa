using System;
using System.Globalization;
using System.Linq;

/// Commands of the program. No need to change this file.
static class Program {
    static int Main(string[] arguments) {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture; // 1.5, not 1,5
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var rest = arguments.Skip(1).ToArray();
        switch (arguments.FirstOrDefault()) {
            case "test": return TestMyBot.Run();
            case "local": return PlayLocal.Run(rest.FirstOrDefault() ?? "greedy");
            case "client": return Client.Run(rest);
            case "worker": return Worker.Run();
        }
        Console.Error.WriteLine("usage: my_bot test | local [greedy|random|me] | client NAME [KEY] | worker");
        return 2;
    }
}
