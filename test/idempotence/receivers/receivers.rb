# Receivers that keep a hash in a file of DATA_DIR: `ruby receivers.rb NAME`. GET responds with the state.
require "json"
require "socket"

PATH = File.join(ENV.fetch("DATA_DIR", "."), "state.json")
NAME = ARGV.fetch(0)
LOCK = Mutex.new

def load_state
  File.exist?(PATH) ? JSON.parse(File.read(PATH)) : {}
end

def store(state)
  File.open("#{PATH}.new", "w") { |file| file.write(JSON.generate(state)); file.fsync }
  File.rename("#{PATH}.new", PATH)
end

def user_of(message)
  message["userId"] || message["anonymousId"] || message["User ID"]
end

# Each message once, but what comes last wins, however old it is.
def last_write_wins(state, message)
  seen = state["seen"] ||= {}
  return if seen[message["messageId"]]

  seen[message["messageId"]] = true
  (state["plans"] ||= {})[user_of(message)] = message["traits"]["plan"] if message["type"] == "identify"
end

# Knows the last message of each user.
def last_of_each_user(state, message)
  last = state["last"] ||= {}
  return if last[user_of(message)] == message["messageId"]

  last[user_of(message)] = message["messageId"]
  counts = state["counts"] ||= {}
  counts[message["type"]] = counts.fetch(message["type"], 0) + 1
end

RECEIVERS = { "last-write-wins" => :last_write_wins, "last-of-each-user" => :last_of_each_user }

def shown(state)
  JSON.generate(state["plans"] || state["counts"] || {})
end

def serve(socket)
  method = socket.gets("\r\n").to_s.split.first
  length = 0
  while (line = socket.gets("\r\n", chomp: true)) && !line.empty?
    length = line.split(":", 2).last.to_i if line.downcase.start_with?("content-length:")
  end
  body = socket.read(length).to_s
  answer = LOCK.synchronize do
    state = load_state
    if method == "POST"
      send(RECEIVERS.fetch(NAME), state, JSON.parse(body))
      store(state)
    end
    method == "POST" ? "" : shown(state)
  end
  socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{answer.bytesize}\r\nConnection: close\r\n\r\n#{answer}")
rescue SystemCallError, IOError
  # The sender went away.
ensure
  socket.close
end

server = TCPServer.new("127.0.0.1", Integer(ENV.fetch("PORT", "3000")))
loop { Thread.new(server.accept) { |socket| serve(socket) } }
