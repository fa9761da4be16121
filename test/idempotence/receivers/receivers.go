// Receivers that keep lines in files of DATA_DIR: build it, then `receivers NAME`. GET responds with the state.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

type message struct {
	Type, UserID, MessageID, Timestamp string
	Traits                             struct{ Plan string }
}

var (
	lock    sync.Mutex
	dir     = os.Getenv("DATA_DIR")
	effects = filepath.Join(dir, "effects.txt")
	seen    = filepath.Join(dir, "seen.txt")
)

func lines(file string) []string {
	text, _ := os.ReadFile(file)
	return strings.FieldsFunc(string(text), func(char rune) bool { return char == '\n' })
}

func has(file, line string) bool {
	for _, each := range lines(file) {
		if each == line {
			return true
		}
	}
	return false
}

func add(file, line string) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(out, line)
	out.Sync()
	out.Close()
}

// Holds a lock, so that two at once do no harm; but the effect and the record of it are 30 ms apart.
func crashBetween(m message) {
	if has(seen, m.MessageID) {
		return
	}
	add(effects, m.Type+" "+m.UserID)
	time.Sleep(30 * time.Millisecond)
	add(seen, m.MessageID)
}

// Adds one for whatever comes.
func counter(m message) {
	add(effects, m.Type)
}

// Forgets after three seconds.
func shortWindow(m message) {
	for _, line := range lines(seen) {
		var at int64
		var id string
		fmt.Sscan(line, &at, &id)
		if id == m.MessageID && time.Since(time.UnixMilli(at)) < 3*time.Second {
			return
		}
	}
	// One write for both, so that a crash finds both or neither.
	add(seen, fmt.Sprint(time.Now().UnixMilli(), " ", m.MessageID, " ", m.Type))
}

func shortWindowState() string {
	var state []string
	for _, line := range lines(seen) {
		state = append(state, strings.Fields(line)[2])
	}
	return strings.Join(state, "\n")
}

// Keeps the newest plan of each user, by the timestamp of the message.
func newest(m message) {
	if m.Type == "identify" {
		add(effects, m.UserID+" "+m.Timestamp+" "+m.Traits.Plan)
	}
}

func newestState() string {
	last := map[string]string{}
	for _, line := range lines(effects) {
		user := strings.Fields(line)[0]
		if line > last[user] {
			last[user] = line
		}
	}
	var state []string
	for user, line := range last {
		state = append(state, user+" "+strings.Fields(line)[2])
	}
	sort.Strings(state)
	return strings.Join(state, "\n")
}

func main() {
	receivers := map[string]func(message){
		"crash-between": crashBetween, "counter": counter, "short-window": shortWindow, "newest-wins": newest,
	}
	receive := receivers[os.Args[1]]
	http.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		if request.Method == "GET" {
			switch os.Args[1] {
			case "newest-wins":
				fmt.Fprintln(out, newestState())
			case "short-window":
				fmt.Fprintln(out, shortWindowState())
			default:
				fmt.Fprintln(out, strings.Join(lines(effects), "\n"))
			}
			return
		}
		var m message
		if err := json.NewDecoder(request.Body).Decode(&m); err != nil {
			out.WriteHeader(400)
			return
		}
		receive(m)
	})
	fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
